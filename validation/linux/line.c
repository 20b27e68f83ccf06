/* A line between two TUN devices, for validation/linux: rate, delay and a drop-tail buffer both ways, and losses of data by
 * their ordinal, from left to right.
 *
 *   line LEFT_FD RIGHT_FD RATE_BPS DELAY_US BUFFER_BYTES SECONDS < ordinals
 *
 * Ordinals count IP packets with TCP payload that reach the line from the left, from 1; those listed on standard input, in order,
 * are thrown away before the buffer. A packet is refused if what is left to be sent and it are more than the buffer. At the end
 * it prints: data packets, dropped by ordinal, dropped by the buffer, lateness of deliveries in ns at the median and at 99 %.
 * It asks for SCHED_FIFO and goes on without.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { PLACES = 8192, MTU = 2048, LATE = 1 << 20 };

struct packet {
	int64_t due;
	int length;
	unsigned char bytes[MTU];
};

/* One direction: packets under way, in the order in which they arrive. */
struct way {
	int from, to;
	int64_t free_at;
	unsigned head, tail;
	long refused;
	struct packet ring[PLACES];
};

static struct way ways[2];
static long ordinals[1 << 20];
static uint32_t late[LATE];
static long data_packets, dropped, ordinals_count, next_ordinal, late_count;
static int64_t rate, delay, buffer;

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Whether this is IPv4, TCP, and has payload. */
static int has_data(const unsigned char *p, int length)
{
	int ip, tcp;
	if (length < 40 || p[0] >> 4 != 4 || p[9] != 6)
		return 0;
	ip = (p[0] & 15) * 4;
	tcp = (p[ip + 12] >> 4) * 4;
	return (p[2] << 8 | p[3]) > ip + tcp;
}

static int lost(const unsigned char *p, int length)
{
	if (!has_data(p, length))
		return 0;
	data_packets++;
	if (next_ordinal == ordinals_count || ordinals[next_ordinal] != data_packets)
		return 0;
	next_ordinal++;
	dropped++;
	return 1;
}

static void take(struct way *w, int is_left)
{
	for (;;) {
		struct packet *p = &w->ring[w->tail % PLACES];
		int length = read(w->from, p->bytes, MTU);
		int64_t at = now(), begins;
		if (length <= 0)
			return;
		if (is_left && lost(p->bytes, length))
			continue;
		begins = w->free_at > at ? w->free_at : at;
		if ((begins - at) / 8 * rate / 1000000000LL + length > buffer || w->tail - w->head == PLACES) {
			w->refused++;
			continue;
		}
		w->free_at = begins + length * 8000000000LL / rate;
		p->due = w->free_at + delay;
		p->length = length;
		w->tail++;
	}
}

/* Delivers what is due; returns when the next is. */
static int64_t deliver(struct way *w)
{
	while (w->head != w->tail) {
		struct packet *p = &w->ring[w->head % PLACES];
		int64_t at = now();
		if (p->due > at)
			return p->due;
		if (write(w->to, p->bytes, p->length) < 0 && errno == EBADFD)
			return INT64_MAX; /* the device has gone with its namespace */
		if (late_count < LATE)
			late[late_count++] = at - p->due;
		w->head++;
	}
	return INT64_MAX;
}

static int by_size(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	struct sched_param first = { .sched_priority = 10 };
	int64_t end;
	if (argc != 7)
		return fprintf(stderr, "usage: line LEFT_FD RIGHT_FD RATE_BPS DELAY_US BUFFER_BYTES SECONDS\n"), 2;
	ways[0].from = ways[1].to = atoi(argv[1]);
	ways[0].to = ways[1].from = atoi(argv[2]);
	rate = atoll(argv[3]);
	delay = atoll(argv[4]) * 1000;
	buffer = atoll(argv[5]);
	while (ordinals_count < 1 << 20 && scanf("%ld", &ordinals[ordinals_count]) == 1)
		ordinals_count++;
	mlockall(MCL_CURRENT);
	prctl(PR_SET_TIMERSLACK, 1);
	if (sched_setscheduler(0, SCHED_FIFO, &first))
		fprintf(stderr, "line: no SCHED_FIFO: %s\n", strerror(errno));
	end = now() + atoll(argv[6]) * 1000000000LL;
	for (;;) {
		struct pollfd fds[2] = { { ways[0].from, POLLIN, 0 }, { ways[1].from, POLLIN, 0 } };
		int64_t a = deliver(&ways[0]), b = deliver(&ways[1]), at = now(), next = a < b ? a : b;
		struct timespec wait;
		if (at > end)
			break;
		if (next > end)
			next = end;
		next = next > at ? next - at : 0;
		wait.tv_sec = next / 1000000000LL;
		wait.tv_nsec = next % 1000000000LL;
		ppoll(fds, 2, &wait, NULL);
		if ((fds[0].revents | fds[1].revents) & (POLLERR | POLLHUP))
			break; /* a device has gone with its namespace */
		if (fds[0].revents)
			take(&ways[0], 1);
		if (fds[1].revents)
			take(&ways[1], 0);
	}
	qsort(late, late_count, sizeof *late, by_size);
	printf("%ld %ld %ld %u %u\n", data_packets, dropped, ways[0].refused, late_count ? late[late_count / 2] : 0,
	       late_count ? late[late_count * 99 / 100] : 0);
	return 0;
}

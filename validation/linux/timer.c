/* What this machine itself does to a program that waits for the clock, for lateness.py.
 *
 *   timer PERIOD_US SECONDS
 *
 * It waits for times PERIOD_US apart, first asleep and then looking at the clock without a pause, for SECONDS each, and prints how late it
 * saw them in ns: at 50, 99 and 99.9 % asleep, at 50, 99 and 99.9 % looking. It asks for SCHED_FIFO and goes on without. The kernel takes
 * 50 ms of each second from a FIFO thread that does not sleep (sched_rt_runtime_us), so looking it sleeps 100 ms after each 400.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

static int by_length(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void sleep_until(int64_t due)
{
	struct timespec t = { .tv_sec = due / 1000000000LL, .tv_nsec = due % 1000000000LL };
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void measure(int64_t period, long count, int looks, int64_t *late)
{
	int64_t due = now(), rest = due + 400000000LL;
	long i;

	for (i = 0; i < count; i++) {
		if (looks && due > rest) {
			sleep_until(now() + 100000000LL);
			due = now();
			rest = due + 400000000LL;
		}
		due += period;
		if (!looks)
			sleep_until(due);
		while ((late[i] = now() - due) < 0)
			;
	}
	qsort(late, count, sizeof *late, by_length);
	printf("%lld %lld %lld\n", (long long)late[count / 2], (long long)late[count * 99 / 100], (long long)late[count * 999 / 1000]);
}

int main(int argc, char **argv)
{
	struct sched_param fifo = { .sched_priority = 50 };
	int64_t period, *late;
	long count;

	if (argc != 3 || (period = atol(argv[1]) * 1000) <= 0 || (count = atof(argv[2]) * 1e9 / period) < 1)
		return 2;
	if (!(late = malloc(count * sizeof *late)))
		return 1;
	sched_setscheduler(0, SCHED_FIFO, &fifo);
	mlockall(MCL_CURRENT | MCL_FUTURE);
	prctl(PR_SET_TIMERSLACK, 1);
	measure(period, count, 0, late);
	measure(period, count, 1, late);
	return 0;
}

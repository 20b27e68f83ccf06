/* What this machine itself does to a program that waits for the clock: a bare timer, for lateness.py.
 *
 *   timer PERIOD_US SECONDS
 *
 * It sleeps to absolute times, PERIOD_US apart, and prints how late it woke in ns at 50, 99 and 99.9 %. It asks for SCHED_FIFO
 * and goes on without.
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

int main(int argc, char **argv)
{
	struct sched_param fifo = { .sched_priority = 50 };
	int64_t period, due, *late;
	struct timespec t;
	long i, count;

	if (argc != 3 || (period = atol(argv[1]) * 1000) <= 0 || (count = atof(argv[2]) * 1e9 / period) < 1)
		return 2;
	if (!(late = malloc(count * sizeof *late)))
		return 1;
	sched_setscheduler(0, SCHED_FIFO, &fifo);
	mlockall(MCL_CURRENT | MCL_FUTURE);
	prctl(PR_SET_TIMERSLACK, 1);
	clock_gettime(CLOCK_MONOTONIC, &t);
	due = t.tv_sec * 1000000000LL + t.tv_nsec;
	for (i = 0; i < count; i++) {
		due += period;
		t.tv_sec = due / 1000000000LL;
		t.tv_nsec = due % 1000000000LL;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		clock_gettime(CLOCK_MONOTONIC, &t);
		late[i] = t.tv_sec * 1000000000LL + t.tv_nsec - due;
	}
	qsort(late, count, sizeof *late, by_length);
	printf("%lld %lld %lld\n", (long long)late[count / 2], (long long)late[count * 99 / 100], (long long)late[count * 999 / 1000]);
	return 0;
}

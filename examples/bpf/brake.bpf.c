// brake: Reno that stops growing while its own queue is long. It runs in the kernel; brake.rs is the same idea in the simulation.
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define TOLERATE 2 // queueing delay, in least RTTs, above which the window stands still

struct brake { // what a connection remembers
	u32 least_us, queueing_us;
};

// The kernel's arithmetic, which it lends to BPF.
extern void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked) __ksym;
extern u32 tcp_reno_ssthresh(struct sock *sk) __ksym;
extern u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

#define OWN(sk) ((struct brake *)((struct inet_connection_sock *)(sk))->icsk_ca_priv) // zeros at first

SEC("struct_ops/acked") // before `grow`, at the same ACK
void BPF_PROG(acked, struct sock *sk, const struct ack_sample *sample)
{
	struct brake *own = OWN(sk);

	if (sample->rtt_us <= 0) // segments that were sent again
		return;
	if (!own->least_us || sample->rtt_us < own->least_us)
		own->least_us = sample->rtt_us;
	own->queueing_us = sample->rtt_us - own->least_us;
}

SEC("struct_ops/grow")
void BPF_PROG(grow, struct sock *sk, u32 ack, u32 count)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	if (OWN(sk)->queueing_us <= TOLERATE * OWN(sk)->least_us)
		tcp_reno_cong_avoid(sk, ack, count);
	else if (tp->snd_ssthresh > tp->snd_cwnd) // slow start is over
		tp->snd_ssthresh = tp->snd_cwnd;
}

SEC("struct_ops/cut")
u32 BPF_PROG(cut, struct sock *sk)
{
	return tcp_reno_ssthresh(sk);
}

SEC("struct_ops/undo")
u32 BPF_PROG(undo, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops")
struct tcp_congestion_ops brake = {
	.pkts_acked = (void *)acked,
	.cong_avoid = (void *)grow,
	.ssthresh = (void *)cut,
	.undo_cwnd = (void *)undo,
	.name = "brake",
};

char _license[] SEC("license") = "Dual MIT/GPL";

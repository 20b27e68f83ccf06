"""The Monte Carlo against cases worked by hand."""

from math import isclose

from montecarlo import END, Air, Counts, phy, simulate

A6 = phy("a", "6", 1500)  # slot 9, SIFS 16, DIFS 34, data 2072, ACK and CTS 44, RTS 52, timeout 50


class Scripted(Air):
    """Draws from lists, and notes who begins what when."""

    def __init__(self, draws, rts=False, cw=15):
        self.draws = [list(own) for own in draws]
        self.log = []
        super().__init__(A6, rts, cw, 1023, seed=1)

    def draw(self, i):
        self.stations[i].backoff = self.draws[i].pop(0) if self.draws[i] else 10**6

    def send(self, now, i, kind):
        self.log.append((now, "ab"[i], kind))
        super().send(now, i, kind)

    def answer(self, now, to, kind):
        self.log.append((now, "p", kind))
        super().answer(now, to, kind)


def walk(draws, us, **options):
    air = Scripted(draws, **options)
    air.at(us, END, lambda now: None)
    counts = air.run(0, us)
    assert isinstance(counts, Counts)
    return air, counts


def test_durations_by_hand():
    assert (A6.difs, A6.timeout) == (34, 50)  # 16 + 2·9; 16 + 9 + 25
    # 1536 octets at 6 Mb/s: 20 + 4 · ceil(12310 / 24); ACK 20 + 4 · ceil(134 / 24); RTS 20 + 4 · ceil(182 / 24).
    assert (A6.data, A6.ack, A6.rts) == (2072, 44, 52)
    assert A6.nav_of_cts == 16 + 2072 + 16 + 44
    b = phy("b", "11", 1500)
    assert (b.data, b.ack, b.rts, b.timeout, b.difs) == (1310, 304, 352, 222, 50)


def test_one_station_alone_is_the_closed_form():
    # The other never begins. 34 + 7.5 · 9 + 2072 + 16 + 44 us for each datagram.
    class Alone(Air):
        def draw(self, i):
            super().draw(i)
            if i == 1:
                self.stations[i].backoff = 10**12

    counts = Alone(A6, False, 15, 15, seed=1).run(0, 60_000_000)
    assert isclose(counts.delivered, 60e6 / 2233.5, rel_tol=2e-3)
    assert counts.lost["data"] == 0


def test_overlap_by_a_slot_loses_both_and_both_begin_again_at_their_timeouts():
    # a at 34, b at 34 + 9: ends 2106 and 2115; timeouts 2156 and 2165; then a counts 2 slots, b 400.
    air, counts = walk([[0, 2], [1, 400]], 2180)
    assert air.log == [(34, "a", "data"), (43, "b", "data"), (2156 + 18, "a", "data")]
    assert (counts.lost["data"], counts.delivered) == (2, 0)
    assert [s.cw for s in air.stations] == [31, 31]


def test_who_begins_in_the_gap_before_the_ack_is_not_heard_and_hears_no_ack():
    # a from 34 to 2106, its ACK from 2122; b has 231 slots: 34 + 2079 = 2113, in the gap.
    air, counts = walk([[0, 500], [231, 500]], 2113 + 2072 + 51)
    assert air.log == [(34, "a", "data"), (2113, "b", "data"), (2122, "p", "ack")]
    assert (counts.delivered, counts.lost["data"]) == (1, 1)


def test_who_begins_with_the_ack_is_lost_to_half_duplex():
    # 232 slots: 34 + 2088 = 2122, the instant of the ACK.
    _, counts = walk([[0, 500], [232, 500]], 2122 + 2072 + 51)
    assert (counts.delivered, counts.lost["data"]) == (1, 1)


def test_the_ack_freezes_the_other_and_whole_slots_count():
    # b has 234 slots. The ACK stands from 2122 to 2166: by then floor(2088 / 9) = 232 are gone. 2166 + 34 + 18.
    air, counts = walk([[0, 500], [234, 500]], 2166 + 34 + 18 + 2072 + 1)
    assert air.log[-1] == (2166 + 34 + 18, "b", "data")
    assert (counts.delivered, counts.lost["data"]) == (1, 0)


def test_a_cts_keeps_the_other_off_to_the_end_of_the_ack():
    # RTS 34 to 86, CTS 102 to 146, data 162 to 2234, ACK 2250 to 2294. b has 8 slots: 7 are gone at 102.
    air, counts = walk([[0, 500], [8, 500]], 2294 + 34 + 9 + 1, rts=True)
    assert air.log == [
        (34, "a", "rts"),
        (102, "p", "cts"),
        (162, "a", "data"),
        (2250, "p", "ack"),
        (2294 + 34 + 9, "b", "rts"),
    ]
    assert counts.delivered == 1


def test_who_misses_the_cts_spoils_the_data():
    # b's RTS begins in the gap before the CTS, at 34 + 7 · 9 = 97: lost, and b heard no CTS. Its timeout is at 199,
    # and it begins again after 1 slot in the middle of a's data. That is lost, and counts long; b's RTS is lost too.
    air, counts = walk([[0, 500], [7, 1, 500]], 162 + 2072 + 51, rts=True)
    assert air.log[-1] == (199 + 9, "b", "rts")
    assert counts.lost == {"rts": 2, "data": 1}
    assert (air.stations[0].long, air.stations[0].short, air.stations[1].short) == (1, 0, 2)


def test_seven_attempts_without_rts_and_cw_falls_back():
    # Both draw nothing ever: they collide for good.
    air, counts = walk([[0] * 99, [0] * 99], 34 + 7 * (2072 + 50) + 1)
    assert counts.dropped == 2
    assert counts.sent["data"] == 16  # the eighth of each is on the air
    assert [s.cw for s in air.stations] == [15, 15]


def test_the_reading_of_the_short_counter_after_a_cts_is_seen_in_lost_rts_and_hardly_in_throughput():
    # README, "A reading": 0.150 and 0.175 of the RTS are lost, throughput differs by 0.5 %.
    with_reset, without = (
        simulate("a", "6", 1500, True, 15, 1023, seed=1, seconds=60, cts_resets_src=reset) for reset in (True, False)
    )
    assert isclose(with_reset["throughput_bps"], without["throughput_bps"], rel_tol=0.01)
    assert without["rts_loss"] > 1.05 * with_reset["rts_loss"]

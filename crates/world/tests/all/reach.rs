//! The neighbours of nodes, and the reach of carrier sense: worked by hand.

use crate::cells;
use crate::network::seen::{Seen, watched};
use world::Run;

fn run(text: &str) -> Run {
    cells::run(text, 1)
}

fn refusal(text: &str) -> String {
    world::parse(text, &[]).map(|_| ()).expect_err(text).to_string()
}

/// Three stations 25 m apart, 802.11a, log-distance with exponent 3 and 46.68 dB at a metre, 16 dBm over -94 dBm of noise.
fn string(first: &str, radio: &str) -> String {
    format!(
        "[scenario]\nduration = '2 s'\n[radio]\nstandard = '802.11a'\n{radio}\n\
         [channel]\npropagation = {{ model = 'log-distance', exponent = 3, reference_loss = '46.68 dB' }}\nnoise = '-94 dBm'\n\
         [[node]]\nname = 'a'\nposition = [0, 0]\n{first}\n[[node]]\nname = 'b'\nposition = [25, 0]\n\
         [[node]]\nname = 'c'\nposition = [50, 0]\n[[flow]]\nfrom = 'a'\nto = 'c'\n\
         transport = {{ protocol = 'udp', datagram = '1028 B' }}\ntraffic = {{ model = 'cbr', rate = '1 Mb/s' }}\n"
    )
}

#[test]
fn a_neighbour_is_who_decodes_the_rate_set_for_it_not_whose_preamble_is_heard() {
    // At 25 m 88.6 dB are lost: 21.4 dB over the noise, enough for 36 Mb/s. At 50 m it is 12.3 dB: enough for a preamble (4 dB) and for
    // 12 Mb/s, not for 36, which takes about 16.
    let hops = |first: &str, radio: &str| {
        let watched = watched(&string(first, radio));
        let ttl = |seen: &[Seen]| seen.first().map(|seen| seen.packet.ip.ttl);
        (watched["b"].is_empty(), ttl(&watched["c"]))
    };
    let over_the_middle = (false, Some(63));
    let direct = (true, Some(64));
    assert_eq!(hops("", "data_rate = '36 Mb/s'"), over_the_middle);
    assert_eq!(hops("", "data_rate = '12 Mb/s'"), direct);
    // The rate for that receiver decides.
    assert_eq!(hops("data_rate_to = { c = '12 Mb/s' }", "data_rate = '36 Mb/s'"), direct);
    assert_eq!(hops("data_rate_to = { c = '36 Mb/s' }", "data_rate = '12 Mb/s'"), over_the_middle);
    assert_eq!(hops("", "data_rate = '36 Mb/s'\nrate_control = 'fixed'"), over_the_middle);
    // 1 Mb/s is nothing to either: all arrives. One hop of 36 Mb/s over 50 m delivered nothing.
    let run = run(&string("", "data_rate = '36 Mb/s'"));
    let [sent, got] = ["datagrams_sent_total", "delivered_packets"].map(|name| run.flow(0, name).unwrap());
    assert!(sent >= 240.0 && got >= 0.99 * sent, "{got} of {sent}");
}

#[test]
fn where_no_way_leads_at_the_rates_set_those_who_are_heard_are_tried() {
    // At 54 Mb/s even 25 m are too far: 21.4 dB, where it takes about 22 or 23. The hop of 50 m is the shortest way among preambles, as it
    // was before rates counted.
    let watched = watched(&string("", "data_rate = '54 Mb/s'\n").replace("[25, 0]", "[35, 0]"));
    assert!(watched["b"].is_empty() && !watched["a"].is_empty());
}

/// 802.11b, 11 and 1 Mb/s, no slots to draw. A datagram of 1028 B from `a` to `b` from 10 ms on, and one from `c` to `d` 100 us later.
fn two_pairs(places: [i32; 4], channel: &str) -> String {
    let mut text = format!(
        "[scenario]\nduration = '500 ms'\n[radio]\nstandard = '802.11b'\nbasic_rate = '1 Mb/s'\ncw_min = 0\ncw_max = 0\n\
         [channel]\nrange = '250 m'\n{channel}\n"
    );
    for (name, x) in ["a", "b", "c", "d"].iter().zip(places) {
        text += &format!("[[node]]\nname = '{name}'\nposition = [{x}, 0]\n");
    }
    for (from, to, start_us) in [("a", "b", 10_000), ("c", "d", 10_100)] {
        text += &format!(
            "[[flow]]\nfrom = '{from}'\nto = '{to}'\nstart = '{start_us} us'\n\
             transport = {{ protocol = 'udp', datagram = '1028 B' }}\ntraffic = {{ model = 'cbr', rate = '8 kb/s' }}\n"
        );
    }
    text
}

/// The ends of the frames of `a` and of `c`, and of those that `b` and `d` received, in microseconds.
fn frames(text: &str) -> [Vec<u64>; 4] {
    let watched = watched(text);
    ["a", "c", "b", "d"].map(|name| watched[name].iter().map(|seen| seen.at.ns() / 1000).collect())
}

const NS2: &str = "sense_range = '550 m'\nsense_eifs = false";
/// The same where an EIFS follows what is sensed only, as in ns-2.
const EIFS: &str = "sense_range = '550 m'";

/// Airtime of either data frame, in microseconds: 192 and 1064 B at 11 Mb/s.
const DATA: u64 = 966;
/// The end of the frame of `a`, and of its response.
const FIRST: u64 = 10_000 + DATA;
const ACKED: u64 = FIRST + 10 + 304;

#[test]
fn a_station_within_range_waits_for_the_response_too() {
    // c is 250 m from a and decodes it: NAV to the end of the ACK, then a DIFS of 50 us.
    for channel in ["", NS2] {
        let second = ACKED + 50 + DATA;
        let seen = frames(&two_pairs([0, -250, 250, 500], channel));
        assert_eq!(seen, [vec![FIRST], vec![second], vec![FIRST], vec![second]], "{channel}");
    }
}

#[test]
fn a_station_at_two_ranges_is_exposed_senses_the_data_and_spoils_the_response() {
    // c at 500 m from a, b at 750 m from c. Without sense_range nobody disturbs anybody.
    let places = [0, -250, 500, 750];
    let alone = frames(&two_pairs(places, ""));
    let second = 10_100 + DATA;
    assert_eq!(alone, [vec![FIRST], vec![second], vec![FIRST], vec![second]]);
    // It senses the data, decodes no duration, and hears nothing of the ACK: it is silent until the data end, and a DIFS. It has no
    // error to report, so there is no EIFS. Its frame begins 50 us behind the data, 40 us into the ACK, which is lost to a.
    let [a, c, b, d] = frames(&two_pairs(places, NS2));
    let second = FIRST + 50 + DATA;
    // a received the ACK in error, so it lets an EIFS (10 + 304 + 50 us) go by when c's frame is over. d's ACK it does not sense (750 m).
    let again = second + 364 + DATA;
    assert_eq!((c, d), (vec![second], vec![second]));
    assert_eq!((a, b), (vec![FIRST, again], vec![FIRST, again]));
}

#[test]
fn with_an_eifs_after_what_is_sensed_only_the_response_survives() {
    // The same places. c waits an EIFS of 364 us from the end of the data, and the ACK of 314 us is over.
    let [a, c, b, d] = frames(&two_pairs([0, -250, 500, 750], EIFS));
    let second = FIRST + 364 + DATA;
    assert_eq!((a, b, c, d), (vec![FIRST], vec![FIRST], vec![second], vec![second]));
    // c 250 m from a decodes the data and senses the ACK, 500 m from b: an EIFS follows that.
    let second = ACKED + 364 + DATA;
    let seen = frames(&two_pairs([0, -250, 250, 500], EIFS));
    assert_eq!(seen, [vec![FIRST], vec![second], vec![FIRST], vec![second]]);
}

#[test]
fn a_station_at_two_ranges_of_the_receiver_is_hidden_and_spoils_what_it_cannot_be_heard_with() {
    // c is 500 m from b, 750 m from a. It spoils the data at b, where sense_range counts.
    let places = [0, 250, 750, 1000];
    let second = 10_100 + DATA;
    assert_eq!(frames(&two_pairs(places, "")), [vec![FIRST], vec![second], vec![FIRST], vec![second]]);
    let [a, c, b, d] = frames(&two_pairs(places, NS2));
    assert_eq!((c, d), (vec![second], vec![second]));
    // b gets the repetition, when c is silent.
    assert_eq!((a.len(), &a[1..], a[0]), (2, &b[..], FIRST));
}

#[test]
fn at_three_ranges_nobody_is_sensed() {
    for (places, channel) in
        [([0, -250, 750, 1000], NS2), ([0, 250, 1000, 1250], NS2), ([0, -250, 500, 750], "sense_range = '250 m'")]
    {
        let second = 10_100 + DATA;
        assert_eq!(
            frames(&two_pairs(places, channel)),
            [vec![FIRST], vec![second], vec![FIRST], vec![second]],
            "{places:?}"
        );
    }
}

#[test]
fn who_is_sensed_only_is_no_neighbour() {
    // 500 m in two hops, or nobody in between.
    let text = |places| two_pairs(places, NS2).replace("from = 'a'\nto = 'b'", "from = 'a'\nto = 'd'");
    let watched = watched(&text([0, 250, -250, 500]));
    assert_eq!(watched["d"].first().map(|seen| seen.packet.ip.ttl), Some(63));
    assert_eq!(run(&text([0, 5000, -250, 500])).flow(0, "delivered_packets"), Some(0.0));
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let of = |channel: &str| refusal(&two_pairs([0, 1, 2, 3], channel));
    assert_eq!(
        of("sense_range = '249 m'"),
        "channel.sense_range: 249 m is less than range, 250 m: what is decoded is sensed"
    );
    assert_eq!(of("sense_rang = '249 m'"), "channel.sense_rang: no such key; did you mean \"sense_range\"?");
    let without = two_pairs([0, 1, 2, 3], NS2).replace("range = '250 m'\n", "");
    assert_eq!(
        refusal(&without),
        "channel.sense_range: has an effect only with channel.range: without it everyone hears everyone"
    );
    let powers = string("", "").replace("noise =", "sense_range = '550 m'\nnoise =");
    assert_eq!(
        refusal(&powers),
        "channel.sense_range: where channel.propagation is given, powers and radio.cca_ed decide who senses whom"
    );
}

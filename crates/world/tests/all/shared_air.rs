//! Powers, layouts and categories on whole networks; the machines' own tests are in `phy` and `mac`.

use crate::cells::fingerprinted as run;
use world::Run;

/// A saturated station at some distance from its access point, 802.11a at 54 Mb/s, log-distance with ns-3's numbers.
fn at_distance(metres: f64) -> String {
    format!(
        "scenario = {{ duration = \"2 s\" }}\nradio = {{ standard = \"802.11a\" }}\n\
         channel = {{ propagation = {{ model = \"log-distance\" }} }}\n\
         [[node]]\nname = \"ap\"\nrole = \"ap\"\n[[node]]\nname = \"sta\"\nposition = [{metres}, 0]\n\
         [[flow]]\nfrom = \"sta\"\nto = \"ap\"\ntransport = {{ protocol = \"udp\" }}\ntraffic = {{ model = \"saturated\" }}\n"
    )
}

#[test]
fn near_the_access_point_powers_change_nothing_and_far_off_the_frames_are_lost_to_noise() {
    let none = at_distance(5.0).replace("channel = { propagation = { model = \"log-distance\" } }\n", "");
    let (near, plain) = (run(&at_distance(5.0), 1), run(&none, 1));
    assert_eq!(near.fingerprint, plain.fingerprint, "no bit is in doubt");
    // 16 dBm, 46.68 dB and 30 dB a decade; noise -174 + 73.0 + 7 = -94.0 dBm. 54 Mb/s at 10 % PER takes 22.5 dB for 1000 B:
    // -71.5 dBm, 40.8 dB beyond the first metre, 23 m.
    let lost = |metres| {
        let run = run(&at_distance(metres), 1);
        let count = |name| Run::number(&run.summary, name).unwrap();
        assert_eq!(count("lost_data_data") + count("lost_to_half_duplex"), 0.0, "nobody else sends");
        count("lost_to_noise") / run.exchanges as f64
    };
    assert_eq!(lost(15.0), 0.0);
    let edge = lost(23.0);
    assert!((0.02..0.5).contains(&edge), "{edge}");
    assert!(lost(30.0) > 0.99);
}

/// Two stations on either side of an access point, 802.11a at 6 Mb/s; `apart`: too far to sense each other.
fn two(apart: bool, radio: &str) -> String {
    let gain = if apart { "-130 dB" } else { "-60 dB" };
    format!(
        "scenario = {{ duration = \"4 s\" }}\nradio = {{ standard = \"802.11a\", data_rate = \"6 Mb/s\", {radio} }}\n\
         [channel]\npropagation = {{ model = \"matrix\" }}\n\
         [[channel.pair]]\nbetween = [\"a\", \"ap\"]\ngain = \"-60 dB\"\n\
         [[channel.pair]]\nbetween = [\"b\", \"ap\"]\ngain = \"-60 dB\"\n\
         [[channel.pair]]\nbetween = [\"a\", \"b\"]\ngain = \"{gain}\"\n\
         [[node]]\nname = \"ap\"\nrole = \"ap\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n\
         [[flow]]\nfrom = \"a\"\nto = \"ap\"\ntransport = {{ protocol = \"udp\" }}\ntraffic = {{ model = \"saturated\" }}\n\
         [[flow]]\nfrom = \"b\"\nto = \"ap\"\ntransport = {{ protocol = \"udp\" }}\ntraffic = {{ model = \"saturated\" }}\n"
    )
}

#[test]
fn hidden_stations_collapse_and_rts_recovers_them() {
    let goodput = |text: &str| Run::number(&run(text, 3).summary, "goodput_bps").unwrap();
    let (near, hidden) = (goodput(&two(false, "")), goodput(&two(true, "")));
    let recovered = goodput(&two(true, "rts_threshold = \"0 B\""));
    assert!(hidden < 0.5 * near, "{hidden} of {near}");
    assert!(recovered > 2.0 * hidden, "{recovered} of {near}, without RTS {hidden}");
}

#[test]
fn equal_powers_leave_nothing_to_capture() {
    let off = two(true, "capture = false");
    assert_eq!(run(&off, 5).fingerprint, run(&two(true, "capture = true"), 5).fingerprint);
}

#[test]
fn a_much_stronger_station_is_captured() {
    let stronger = |capture: bool| {
        let text = two(true, &format!("capture = {capture}"));
        let text = text.replacen("gain = \"-60 dB\"", "gain = \"-40 dB\"", 1);
        let run = run(&text, 5);
        [0, 1].map(|flow| run.flow(flow, "goodput_bps").unwrap())
    };
    let [strong, weak] = stronger(false);
    // 20 dB above the other one its frames survive whatever overlaps them later.
    assert!(strong > 4.0 * weak, "{strong} {weak}");
    let [captured, _] = stronger(true);
    assert!(captured > 1.02 * strong, "{captured} {strong}: a later frame is taken as well");
}

#[test]
fn a_disc_is_drawn_anew_for_each_seed_and_uniform_over_its_area() {
    // Of 400 stations a quarter stand within half the radius: 100, binomial with a standard deviation of 8.7; those have more
    // than 46.68 + 30 log10(10) = 76.7 dB of loss less, which a sensitivity between tells from the others.
    let text = |seed: u64| {
        format!(
            "scenario = {{ duration = \"1 ms\", seed = {seed} }}\nradio = {{ standard = \"802.11a\" }}\n\
             layout = {{ model = \"disc\", radius = \"20 m\" }}\n\
             channel = {{ propagation = {{ model = \"log-distance\" }}, noise = \"-64.7 dBm\" }}\n\
             [[node]]\nname = \"ap\"\nrole = \"ap\"\n[[node]]\nname = \"sta\"\ncount = 2\n\
             [[flow]]\nfrom = \"sta\"\nto = \"ap\"\nstart = \"0.5 ms\"\ntransport = {{ preset = \"rfc\" }}\n"
        )
    };
    // 16 dBm - 76.7 dB is 4 dB above that noise: who stands within 10 m hears the access point, and only who does has a way.
    let parsed = (1..=400).filter(|seed| world::parse(&text(*seed), &[]).is_ok()).count();
    // Both of two: 1/16 of 400 = 25, standard deviation 4.8.
    assert!((5..=45).contains(&parsed), "{parsed}");
}

/// One station with two flows of these DSCPs, saturated, and its receiver; `access` at both.
fn marked(access: &str, dscps: [u8; 2]) -> Run {
    mapped(&format!("access = \"{access}\""), dscps)
}

/// The same with these keys of its radio.
fn mapped(keys: &str, dscps: [u8; 2]) -> Run {
    let flow = |dscp: u8| {
        format!(
            "[[flow]]\nfrom = \"a\"\nto = \"b\"\ndscp = {dscp}\ntransport = {{ protocol = \"udp\" }}\n\
             traffic = {{ model = \"poisson\", rate = \"40 Mb/s\" }}\n"
        )
    };
    let text = format!(
        "scenario = {{ duration = \"2 s\" }}\nradio = {{ standard = \"802.11a\", {keys} }}\n\
         [[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n{}{}",
        flow(dscps[0]),
        flow(dscps[1])
    );
    run(&text, 1)
}

#[test]
fn a_packets_dscp_finds_its_category_and_voice_goes_before_background() {
    let goodputs = |run: &Run| [0, 1].map(|flow| run.flow(flow, "goodput_bps").unwrap());
    let [voice, background] = goodputs(&marked("edca", [46, 8]));
    // AIFSN 7 and CWmin 15 behind AIFSN 2 and CWmin 3 of the same station.
    assert!(voice > 10.0 * background, "{voice} {background}");
    let [one, other] = goodputs(&marked("dcf", [46, 8]));
    assert!((one / other - 1.0).abs() < 0.1, "one queue: {one} {other}");
    let run = marked("edca", [46, 8]);
    let ids: Vec<_> = run.queues.iter().map(|row| row[0].1.clone()).collect();
    assert!(ids.contains(&world::Cell::Text("a.air.vo".to_owned())), "{ids:?}");
}

/// Packets that came to each queue of the sender of AF21 and EF: BK, BE, VI, VO.
fn offered(keys: &str) -> Vec<f64> {
    let run = mapped(keys, [18, 46]);
    run.queues.iter().take(4).map(|row| Run::number(row, "offered_packets").unwrap()).collect()
}

#[test]
fn telephony_is_voice_as_rfc_8325_has_it_and_was_video_by_its_precedence() {
    // AF21 is user priority 3 here and 2 by precedence: best effort, background.
    let zero = |keys| offered(keys).iter().map(|n| *n == 0.0).collect::<Vec<_>>();
    assert_eq!(zero("access = \"edca\""), [true, false, true, false]);
    assert_eq!(zero("access = \"edca\", dscp_map = \"precedence\""), [false, true, false, true]);
}

#[test]
fn a_category_that_its_scenario_and_the_standard_make_together_is_checked() {
    // Voice begins with CW 7 at most by the standard (802.11a), and the scenario says 100.
    let text = "scenario = { duration = \"1 s\" }\nradio = { standard = \"802.11a\", access = \"edca\" }\n[[node]]\nname = \"a\"\n\
                [[node]]\nname = \"b\"\nedca = { vo = { cw_min = 100 } }\n[[flow]]\nfrom = \"a\"\nto = \"b\"\n";
    assert_eq!(world::parse(text, &[]).unwrap_err().to_string(), "node[1].edca: vo: CWmin 100 is over CWmax 7");
}

#[test]
fn red_takes_the_smallest_datagram_on_the_fastest_link() {
    let text = "scenario = { duration = \"1 ms\" }\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[link]]\nbetween = [\"a\", \"b\"]\n\
                rate = \"1000 Gb/s\"\nqueue = { discipline = \"red\", packets = 100 }\n[[flow]]\nfrom = \"a\"\nto = \"b\"\n\
                transport = { protocol = \"udp\", datagram = \"29 B\" }\ntraffic = { model = \"poisson\", rate = \"10 Mb/s\" }\n";
    assert!(run(text, 1).flow(0, "delivered_packets").unwrap() > 0.0);
}

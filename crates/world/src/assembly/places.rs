//! The positions of nodes.

use crate::scenario::{Layout, Metres, Role, Scenario};
use core::f64::consts::TAU;
use engine::{Purpose, Streams};

/// The position of every node in metres: its own, or as the layout says; without either the origin.
///
/// Access points without a position stand in the centre, except on a line. On a disc and in a rectangle each station has a stream of its
/// own, so that another one more moves nobody, and one for each time that the layout is drawn.
pub(super) fn places(scenario: &Scenario, streams: &Streams, draw: u32) -> Vec<[f64; 2]> {
    let is_placed = |i: usize| {
        let node = &scenario.nodes[i];
        let is_centre = node.entry.role == Role::Ap && !matches!(scenario.layout, Some(Layout::Line { .. }));
        node.has_radio && node.entry.position.is_none() && !is_centre
    };
    let all: Vec<usize> = (0..scenario.nodes.len()).filter(|i| is_placed(*i)).collect();
    let mut places: Vec<[f64; 2]> =
        scenario.nodes.iter().map(|node| node.entry.position.unwrap_or_default()).collect();
    let Some(layout) = scenario.layout else { return places };
    let stream = |i: usize| streams.get(Purpose::Layout, u64::from(draw) << 32 | i as u64);
    for (nth, &i) in all.iter().enumerate() {
        places[i] = match layout {
            Layout::Star { radius: Metres(radius) } => {
                let angle = TAU * nth as f64 / all.len() as f64;
                [radius * libm::cos(angle), radius * libm::sin(angle)]
            }
            Layout::Grid { spacing: Metres(spacing) } => {
                let (column, row) = cell(nth, all.len());
                [spacing * f64::from(column), spacing * f64::from(row)]
            }
            // The area within r is as r²: the radius is the root of a uniform number.
            Layout::Disc { radius: Metres(radius), .. } => {
                let mut stream = stream(i);
                let (distance, angle) = (radius * libm::sqrt(stream.unit()), TAU * stream.unit());
                [distance * libm::cos(angle), distance * libm::sin(angle)]
            }
            Layout::Rectangle { width: Metres(width), height: Metres(height), .. } => {
                let mut stream = stream(i);
                [width, height].map(|side| side * (stream.unit() - 0.5))
            }
            Layout::Line { spacing: Metres(spacing) } => [spacing * nth as f64, 0.0],
        };
    }
    places
}

/// Column and row of the `nth` of `all` around the centre, which stays free: row by row on the smallest square of odd
/// width that holds them.
fn cell(nth: usize, all: usize) -> (i32, i32) {
    let mut width = 3;
    while width * width - 1 < all {
        width += 2;
    }
    let middle = width * width / 2;
    let place = if nth < middle { nth } else { nth + 1 };
    let half = (width / 2) as i32;
    ((place % width) as i32 - half, (place / width) as i32 - half)
}

#[cfg(test)]
mod tests {
    use super::{cell, places};
    use engine::Streams;

    #[test]
    fn stations_in_a_rectangle_stand_anywhere_in_it_and_elsewhere_in_the_next_draw() {
        let text = "scenario = { duration = '1 s' }\nradio = { standard = '802.11b' }\n\
                    layout = { model = 'rectangle', width = '300 m', height = '90 m' }\n\
                    [[node]]\nname = 'ap'\nrole = 'ap'\n[[node]]\nname = 'sta'\ncount = 900\n\
                    [[node]]\nname = 'put'\nposition = [1, 2]\n[[flow]]\nfrom = 'put'\nto = 'ap'\n";
        let blueprint = crate::parse(text, &[]).unwrap_or_else(|error| panic!("{error}"));
        let of = |seed, draw| places(blueprint.scenario(), &Streams::new(seed), draw);
        let all = of(1, 0);
        assert_eq!((all[0], all[901]), ([0.0, 0.0], [1.0, 2.0]));
        let mut cells = [0u32; 9];
        for [x, y] in &all[1..901] {
            assert!((-150.0..150.0).contains(x) && (-45.0..45.0).contains(y));
            cells[((x + 150.0) / 100.0) as usize * 3 + ((y + 45.0) / 30.0) as usize] += 1;
        }
        // Nine equal parts of 100 each: chi-square with eight degrees of freedom exceeds 26.12 once in a thousand.
        let statistic: f64 = cells.iter().map(|n| libm::pow(f64::from(*n) - 100.0, 2.0) / 100.0).sum();
        assert!(statistic < 26.12, "{cells:?}");
        assert_eq!(of(1, 0), all);
        for other in [of(1, 1), of(2, 0)] {
            assert!((1..901).all(|i| other[i] != all[i]) && other[901] == all[901]);
        }
    }

    #[test]
    fn eight_stand_around_the_centre_and_the_ninth_asks_for_a_wider_square() {
        let eight: Vec<_> = (0..8).map(|nth| cell(nth, 8)).collect();
        assert_eq!(eight, [(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1)]);
        assert_eq!((cell(0, 9), cell(11, 24), cell(12, 24), cell(23, 24)), ((-2, -2), (-1, 0), (1, 0), (2, 2)));
    }
}

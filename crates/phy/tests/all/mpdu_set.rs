//! Sets of MPDUs beside a set of places from the standard library.

use phy::MpduSet;
use proptest::prelude::*;
use std::collections::BTreeSet;

#[derive(Debug, Clone, Copy)]
enum Op {
    Insert(usize),
    SetFirst(usize),
    Clear,
    CloneFrom(usize),
}

/// Histories of a set that holds places below `width`.
fn history(width: usize) -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        8 => (0..width).prop_map(Op::Insert),
        1 => (0..=width).prop_map(Op::SetFirst),
        1 => Just(Op::Clear),
        1 => (0..=width).prop_map(Op::CloneFrom),
    ];
    prop::collection::vec(op, 0..60)
}

fn widths() -> impl Strategy<Value = (usize, Vec<Op>)> {
    let width = prop_oneof![Just(1), Just(64), Just(65), Just(256), Just(1024)];
    width.prop_flat_map(|width| (Just(width), history(width)))
}

fn is_same(set: &MpduSet, model: &BTreeSet<usize>, width: usize) -> Result<(), TestCaseError> {
    prop_assert!(set.iter().eq(model.iter().copied()));
    prop_assert_eq!((set.len(), set.is_empty()), (model.len(), model.is_empty()));
    for place in (0..width + 65).chain([usize::MAX]) {
        prop_assert_eq!(set.contains(place), model.contains(&place), "place {}", place);
    }
    let n = model.len();
    let is_first = model.iter().copied().eq(0..n);
    prop_assert_eq!(set.is_first(n), is_first);
    prop_assert!(!set.is_first(n + 1) && !set.is_first(width + 1));
    Ok(())
}

proptest! {
    #[test]
    fn it_holds_what_was_put_in_at_every_width((width, history) in widths(), is_made_wide in any::<bool>()) {
        let mut set = if is_made_wide { MpduSet::with_width(width) } else { MpduSet::NONE };
        let mut model = BTreeSet::new();
        for op in history {
            match op {
                Op::Insert(place) => {
                    set.insert(place);
                    model.insert(place);
                }
                Op::SetFirst(n) => {
                    set.set_first(n);
                    model = (0..n).collect();
                }
                Op::Clear => {
                    set.clear();
                    model.clear();
                }
                Op::CloneFrom(n) => {
                    set.clone_from(&MpduSet::first(n));
                    model = (0..n).collect();
                }
            }
            is_same(&set, &model, width)?;
        }
        // However wide each of them is, the same places are the same set.
        prop_assert_eq!(&set, &model.iter().copied().collect::<MpduSet>());
        prop_assert_eq!(&set.clone(), &set);
    }
}

#[test]
fn constants_are_the_sets_that_they_say() {
    assert_eq!((MpduSet::NONE.len(), MpduSet::ONE.iter().collect::<Vec<_>>()), (0, vec![0]));
    assert_eq!((MpduSet::first(0), MpduSet::first(1)), (MpduSet::NONE, MpduSet::ONE));
    assert!(MpduSet::first(MpduSet::MOST).is_first(1024) && !MpduSet::first(64).contains(64));
}

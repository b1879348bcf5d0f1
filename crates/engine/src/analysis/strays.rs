//! Where a script may be besides: `cd x` may fail, and the script goes on where it was.

use std::sync::Arc;

use super::Analysis;
use crate::effect::Effect;
use crate::place;

/// How many places are kept; with more of them nothing is known of where the script is.
const PLACES: usize = 24;

/// The places a script may be in besides the one that it went to.
#[derive(Clone, Debug, Default)]
pub struct Strays {
    /// Those it is in if the last change of directory did what it says come first.
    places: Option<Arc<[Arc<str>]>>,
    /// How many these are.
    landed: usize,
}

impl Strays {
    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_none()
    }

    /// The places, as acts keep them.
    pub(crate) fn places(&self) -> Arc<[Arc<str>]> {
        self.places.clone().unwrap_or_default()
    }

    /// Forgets what is only true if the last change of directory failed.
    pub(super) fn land(&mut self) {
        let landed = self.places.iter().flat_map(|places| places.iter().take(self.landed));
        *self = Strays::of(landed.cloned().collect(), self.landed);
    }

    /// Adds the places of another point of the script.
    pub(super) fn join(&mut self, other: &Strays) {
        let Some(theirs) = &other.places else { return };
        let mut places = self.places().to_vec();
        for place in theirs.iter().filter(|place| !self.places().contains(*place)) {
            places.push(Arc::clone(place));
        }
        *self = Strays::of(places, self.landed);
    }

    /// Whether others are among them than before.
    pub(super) fn differ(&self, before: &Strays) -> bool {
        self.places.as_deref().unwrap_or_default() != before.places.as_deref().unwrap_or_default()
    }

    fn of(places: Vec<Arc<str>>, landed: usize) -> Strays {
        Strays { places: (!places.is_empty()).then(|| places.into()), landed }
    }
}

impl Analysis<'_> {
    /// The script goes from where it is to `to`, which is `written` there, or stays.
    pub(crate) fn go(&mut self, written: Option<&str>, to: Option<Arc<str>>) {
        let from = std::mem::replace(&mut self.state.directory, to.clone());
        let (Some(to), Some(from)) = (to, from) else {
            self.state.strays = Strays::default();
            self.state.before = None;
            return;
        };
        let strays = std::mem::take(&mut self.state.strays);
        self.state.before = strays.is_empty().then(|| Arc::clone(&from));
        if strays.is_empty() && (from == to || self.arrives(written, &to)) {
            return;
        }
        let home = self.ground.home.as_deref();
        let mut places: Vec<Arc<str>> = Vec::new();
        let mut add = |place: Arc<str>| {
            if place != to && !places.contains(&place) {
                places.push(place);
            }
            places.len()
        };
        let mut landed = 0;
        for stray in strays.places().iter() {
            let there = written.and_then(|written| place::absolute(written, stray, home));
            landed = add(there.map_or_else(|| Arc::clone(stray), Arc::from));
        }
        if !self.arrives(written, &to) {
            strays.places().iter().chain([&from]).for_each(|stay| _ = add(Arc::clone(stay)));
        }
        for place in &places {
            self.been(place);
        }
        if places.len() > PLACES {
            self.state.directory = None;
        } else {
            self.state.strays = Strays::of(places, landed);
        }
    }

    /// The directory before this one: nothing in the script may have led elsewhere since.
    pub(crate) fn before(&self) -> Option<Arc<str>> {
        let state = &self.state;
        let is_certain = state.directory.is_some()
            && state.strays.is_empty()
            && state.functions.is_empty()
            && state.aliases.is_empty();
        state.before.clone().filter(|_| is_certain)
    }

    /// Whether a change of directory cannot fail: upwards, or to a place that is known to be
    /// there and that nothing in the script can have taken away.
    fn arrives(&self, written: Option<&str>, to: &str) -> bool {
        let is_up = |written: &str| written.split('/').all(|part| matches!(part, "" | "." | ".."));
        let changes = |effect: Effect| !effect.is_reading();
        written.is_none_or(is_up)
            || self.world.names(to).is_some()
                && !self
                    .found
                    .acts
                    .iter()
                    .any(|act| act.effects.iter().any(|on| changes(on.effect)))
    }
}

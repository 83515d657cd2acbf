//! What was worked out of the record as it was before one message.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Keeps what was worked out for the message that anybody asked about last: answers are judged in
/// their order, and each by many rules.
#[derive(Debug)]
pub(crate) struct Latest<T>(RefCell<Option<(usize, Rc<T>)>>);

impl<T> Latest<T> {
    /// What was worked out for message `turn`; `make` works it out the first time.
    pub(crate) fn get(&self, turn: usize, make: impl FnOnce() -> T) -> Rc<T> {
        if let Some((known, value)) = &*self.0.borrow()
            && *known == turn
        {
            return Rc::clone(value);
        }
        let value = Rc::new(make());
        self.0.replace(Some((turn, Rc::clone(&value))));
        value
    }
}

impl<T> Default for Latest<T> {
    fn default() -> Self {
        Self(RefCell::new(None))
    }
}

/// Keeps what was worked out for each of the places that are asked about: from the oldest one on that
/// is still of use.
#[derive(Debug)]
pub(crate) struct Recent<T: ?Sized>(RefCell<BTreeMap<usize, Rc<T>>>);

impl<T: ?Sized> Recent<T> {
    /// What was worked out for a place; `make` works it out the first time.
    pub(crate) fn get(&self, at: usize, make: impl FnOnce() -> Rc<T>) -> Rc<T> {
        let known = self.0.borrow().get(&at).map(Rc::clone);
        known.unwrap_or_else(|| {
            let value = make();
            self.0.borrow_mut().insert(at, Rc::clone(&value));
            value
        })
    }

    /// Drops what was worked out for the places before that one.
    pub(crate) fn forget_before(&self, oldest: usize) {
        let mut known = self.0.borrow_mut();
        while known.first_key_value().is_some_and(|(at, _)| *at < oldest) {
            known.pop_first();
        }
    }
}

impl<T: ?Sized> Default for Recent<T> {
    fn default() -> Self {
        Self(RefCell::new(BTreeMap::new()))
    }
}

//! Days and times of day, however they are written.

/// A day or a time of day in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Its first byte.
    pub(crate) start: usize,
    /// One past its last byte.
    pub(crate) end: usize,
    /// When.
    pub(crate) when: When,
}

/// A day or a time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// A day of a year that need not be said.
    Day {
        /// The year, where it is written.
        year: Option<u16>,
        /// From 1.
        month: u8,
        /// From 1.
        day: u8,
    },
    /// `03/04/2024`: the third of April, or the fourth of March.
    Ambiguous,
    /// Minutes since midnight; `half` where it may as well be twelve hours later.
    Time {
        /// From 0 to 1439.
        minutes: u16,
        /// Neither "am" nor "pm", and no hour above 12.
        half: bool,
    },
}

impl When {
    /// Whether both may be the same.
    pub(crate) fn agrees(self, other: Self) -> bool {
        match (self, other) {
            (
                Self::Day { year: a, month: am, day: ad },
                Self::Day { year: b, month: bm, day: bd },
            ) => am == bm && ad == bd && a.zip(b).is_none_or(|(a, b)| a == b),
            (Self::Time { minutes: a, half: ah }, Self::Time { minutes: b, half: bh }) => {
                a == b || ((ah || bh) && a % 720 == b % 720)
            }
            (Self::Ambiguous, Self::Day { .. }) | (Self::Day { .. }, Self::Ambiguous) => true,
            _ => false,
        }
    }
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Whether a day or a time may begin with a byte: a digit, the first letter of a month, or the `T`
/// before a time.
fn may_begin(byte: u8) -> bool {
    const BEGINS: u32 = {
        let (mut begins, mut rest) = (0, b"ADFJMNOST".as_slice());
        while let [letter, more @ ..] = rest {
            begins |= 1 << (*letter - b'A');
            rest = more;
        }
        begins
    };
    byte.is_ascii_digit() || (byte.is_ascii_uppercase() && BEGINS >> (byte - b'A') & 1 == 1)
}

/// Calls `found` with every day and time of a text, in order.
pub(crate) fn each_moment(text: &str, mut found: impl FnMut(Moment)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if !may_begin(byte) {
            at += 1;
            continue;
        }
        let inside = at.checked_sub(1).and_then(|i| bytes.get(i));
        let inside = inside.is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$'));
        // `…T18:22`: the time behind a day.
        let behind_day = byte == b'T' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
        if behind_day {
            at += 1;
        }
        let reader = Reader { bytes, at };
        let moment = match byte {
            b'0'..=b'9' if !inside => reader.number(),
            b'T' if behind_day && inside => reader.number(),
            b'A' | b'D' | b'F' | b'J' | b'M' | b'N' | b'O' | b'S' if !inside && !behind_day => {
                reader.month_first()
            }
            _ => None,
        };
        match moment {
            Some((end, when)) => {
                found(Moment { start: at, end, when });
                at = end;
            }
            None if byte.is_ascii_digit() => {
                at += reader.digits().map_or(1, |(_, len)| len);
            }
            None => at += usize::from(!behind_day),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Reader<'t> {
    bytes: &'t [u8],
    at: usize,
}

impl Reader<'_> {
    fn byte(self, by: usize) -> u8 {
        self.bytes.get(self.at + by).copied().unwrap_or(b' ')
    }

    fn skip(self, by: usize) -> Self {
        Self { at: self.at + by, ..self }
    }

    /// The number that begins here, and how many digits it has.
    fn digits(self) -> Option<(u16, usize)> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let len = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        let number = rest.iter().take(len.min(4)).fold(0, |n, b| n * 10 + u16::from(b - b'0'));
        (len > 0).then_some((number, len))
    }

    /// A number of one or two digits behind a mark.
    fn part(self, mark: u8) -> Option<(u16, Self)> {
        let (number, len) = (self.byte(0) == mark).then(|| self.skip(1).digits()).flatten()?;
        (len <= 2).then_some((number, self.skip(1 + len)))
    }

    /// What begins with a digit.
    fn number(self) -> Option<(usize, When)> {
        let (first, len) = self.digits()?;
        let rest = self.skip(len);
        if len == 4 {
            let mark = rest.byte(0);
            let (month, rest) = rest.part(mark).filter(|_| matches!(mark, b'-' | b'/' | b'.'))?;
            let (day, rest) = rest.part(mark)?;
            return Some((rest.at, self::day(Some(first), month, day)?));
        }
        if len > 2 {
            return None;
        }
        if let Some((minutes, rest)) = rest.part(b':') {
            let rest = rest.part(b':').map_or(rest, |(_, rest)| rest);
            return rest.time(first, minutes);
        }
        let mark = rest.byte(0);
        if matches!(mark, b'/' | b'.')
            && let Some((second, rest)) = rest.part(mark)
        {
            let (year, len) = (rest.byte(0) == mark).then(|| rest.skip(1).digits()).flatten()?;
            let end = rest.at + 1 + len;
            return match (mark, len) {
                (b'.', 4) => Some((end, day(Some(year), second, first)?)),
                (b'/', 2 | 4) => Some((end, When::Ambiguous)),
                _ => None,
            };
        }
        rest.half().map_or_else(|| rest.month_behind(first), |_| rest.time(first, 0))
    }

    /// "am" or "pm" here: whether it is the afternoon, and where it ends.
    fn half(self) -> Option<(bool, Self)> {
        let here = self.skip(usize::from(self.byte(0) == b' '));
        let afternoon = match here.byte(0).to_ascii_lowercase() {
            b'a' => false,
            b'p' => true,
            _ => return None,
        };
        let dotted = here.byte(1) == b'.';
        let rest = here.skip(1 + usize::from(dotted));
        let ends = rest.byte(0).eq_ignore_ascii_case(&b'm');
        (ends && !rest.byte(1).is_ascii_alphanumeric())
            .then(|| (afternoon, rest.skip(1 + usize::from(dotted && rest.byte(1) == b'.'))))
    }

    fn time(self, hour: u16, minutes: u16) -> Option<(usize, When)> {
        let half = self.half();
        let hour = match half {
            Some((_, _)) if !(1..=12).contains(&hour) => return None,
            Some((afternoon, _)) => hour % 12 + if afternoon { 12 } else { 0 },
            None => hour,
        };
        let end = half.map_or(self.at, |(_, rest)| rest.at);
        let open = half.is_none() && (1..=12).contains(&hour);
        (hour < 24 && minutes < 60)
            .then_some((end, When::Time { minutes: hour * 60 + minutes, half: open }))
    }

    /// "th of March 2024" behind a number.
    fn month_behind(self, number: u16) -> Option<(usize, When)> {
        let ordinal = [b"st", b"nd", b"rd", b"th"]
            .iter()
            .any(|known| self.byte(0) == known[0] && self.byte(1) == known[1]);
        let rest = self.skip(if ordinal { 2 } else { 0 });
        let rest = if rest.byte(0) == b' ' { rest.skip(1) } else { return None };
        let of = rest.byte(0) == b'o' && rest.byte(1) == b'f' && rest.byte(2) == b' ';
        let (month, rest) = rest.skip(if of { 3 } else { 0 }).month()?;
        let (year, rest) = rest.year();
        Some((rest.at, day(year, month, number)?))
    }

    /// "March 12th, 2024".
    fn month_first(self) -> Option<(usize, When)> {
        let (month, rest) = self.month()?;
        let rest = if rest.byte(0) == b' ' { rest.skip(1) } else { return None };
        let (number, len) = rest.digits()?;
        let rest = rest.skip(len);
        let end = match (rest.byte(0), rest.byte(1)) {
            (b's', b't') | (b'n', b'd') | (b'r', b'd') | (b't', b'h') => rest.skip(2),
            (b':', b'0'..=b'9') => return None,
            (mark, _) if mark.is_ascii_alphanumeric() => return None,
            _ => rest,
        };
        let (year, end) = end.year();
        (len <= 2).then(|| day(year, month, number)).flatten().map(|when| (end.at, when))
    }

    /// A month's name with a capital, written out or cut to three or four letters.
    fn month(self) -> Option<(u16, Self)> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let len = rest.iter().take(10).take_while(|b| b.is_ascii_alphabetic()).count();
        let word =
            rest.get(..len).filter(|word| word.first().is_some_and(u8::is_ascii_uppercase))?;
        let is = |name: &str| {
            let cut = name.as_bytes().get(..len);
            cut.is_some_and(|cut| cut.eq_ignore_ascii_case(word))
                && (len == 3 || len == name.len() || (len == 4 && name.starts_with("sept")))
        };
        let number = MONTHS.iter().position(|name| is(name)).filter(|_| len >= 3)?;
        let behind = self.skip(len);
        let dot = behind.byte(0) == b'.'
            && len < 5
            && !MONTHS.iter().any(|name| name.len() == len && is(name));
        Some((u16::try_from(number + 1).ok()?, behind.skip(usize::from(dot))))
    }

    /// ", 2024" or " 2024".
    fn year(self) -> (Option<u16>, Self) {
        let comma = self.skip(usize::from(self.byte(0) == b','));
        let rest = if comma.byte(0) == b' ' { comma.skip(1) } else { return (None, self) };
        match rest.digits() {
            Some((year @ 1900..2200, 4)) if rest.byte(4) != b':' => (Some(year), rest.skip(4)),
            _ => (None, self),
        }
    }
}

fn day(year: Option<u16>, month: u16, day: u16) -> Option<When> {
    let (month, day) = (u8::try_from(month).ok()?, u8::try_from(day).ok()?);
    let real = (1..=12).contains(&month) && (1..=31).contains(&day);
    real.then_some(When::Day { year, month, day })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_a_text() {
        let day =
            |year: u16, month, day| When::Day { year: (year > 0).then_some(year), month, day };
        let time = |hour: u16, minute, half| When::Time { minutes: hour * 60 + minute, half };
        for (text, expected) in [
            ("2024-03-04T18:22:00Z", &[day(2024, 3, 4), time(18, 22, false)][..]),
            ("on March 12, 2024.", &[day(2024, 3, 12)]),
            ("on 12th of Sept. and Sep 3", &[day(0, 9, 12), day(0, 9, 3)]),
            ("12.03.2024, 03/04/2024", &[day(2024, 3, 12), When::Ambiguous]),
            ("from 2:53 PM to 4 p.m.", &[time(14, 53, false), time(16, 0, false)]),
            ("12 am, 12:30 pm, 9:30", &[time(0, 0, false), time(12, 30, false), time(9, 30, true)]),
            ("May I? 3 files, v1.2.3, 10.5, 1:2:3:4, W12:30", &[]),
            ("March 2024 has 31 days", &[]),
            ("99:30, 2024-13-40", &[]),
        ] {
            let mut found = Vec::new();
            each_moment(text, |moment| found.push(moment.when));
            if text.starts_with("May") {
                found.retain(|when| !matches!(when, When::Time { .. }));
            }
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn one_moment_in_two_forms() {
        let one = |text: &str| {
            let mut found = None;
            each_moment(text, |moment| found = Some(moment.when));
            found.unwrap()
        };
        for (a, b, same) in [
            ("14:35", "2:35 PM", true),
            ("14:35", "2:35", true),
            ("14:35", "2:53 PM", false),
            ("02:35", "2:35 PM", true),
            ("July 19", "2024-07-19", true),
            ("19 July 2023", "2024-07-19", false),
            ("19:07", "2024-07-19", false),
        ] {
            assert_eq!(one(a).agrees(one(b)), same, "{a} {b}");
        }
    }
}

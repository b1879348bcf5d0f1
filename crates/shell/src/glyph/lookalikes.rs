//! Look-alikes: signs that a person takes for others.
//!
//! Signs of [`ALWAYS`] are spelled out wherever they stand. Letters of [`LETTERS`] look like Latin
//! ones; they stay in a word of their own script that shows that it is one, as in `привет`, and
//! are spelled out in a word that mixes scripts or could be taken for Latin.

/// Signs that look like others, join with their neighbours or are written from the right: first
/// and last; sorted.
// INVARIANT: sorted, without overlaps; found by bisection.
#[rustfmt::skip]
const ALWAYS: &[(char, char)] = &[
    ('\u{b4}',    '\u{b4}'),    // an accent like a backquote
    ('\u{131}',   '\u{131}'),   // i without its dot
    ('\u{17f}',   '\u{17f}'),   // a long s
    ('\u{1c0}',   '\u{1c3}'),   // clicks like | and !
    ('\u{251}',   '\u{251}'),   // a of phonetics
    ('\u{261}',   '\u{261}'),   // g of phonetics
    ('\u{26a}',   '\u{26a}'),   // small capital i
    ('\u{2b0}',   '\u{2ff}'),   // modifiers like quotes, colons, tildes
    ('\u{374}',   '\u{375}'),   // Greek number signs
    ('\u{37e}',   '\u{37e}'),   // the Greek question mark, which is a semicolon to the eye
    ('\u{387}',   '\u{387}'),   // a Greek point
    ('\u{589}',   '\u{589}'),   // the Armenian colon
    ('\u{590}',   '\u{8ff}'),   // Hebrew, Arabic, Syriac, Thaana, N'Ko …: from the right
    ('\u{d4e}',   '\u{d4e}'),   // a sign that joins with the next
    ('\u{1100}',  '\u{11ff}'),  // parts of Korean syllables, which join
    ('\u{13a0}',  '\u{13ff}'),  // Cherokee, whose letters look Latin
    ('\u{1680}',  '\u{169c}'),  // Ogham
    ('\u{16eb}',  '\u{16ed}'),  // runic points
    ('\u{1d00}',  '\u{1dbf}'),  // letters of phonetics
    ('\u{1f71}',  '\u{1f71}'), ('\u{1f73}', '\u{1f73}'), ('\u{1f75}', '\u{1f75}'), // Greek twice
    ('\u{1f77}',  '\u{1f77}'), ('\u{1f79}', '\u{1f79}'), ('\u{1f7b}', '\u{1f7b}'),
    ('\u{1f7d}',  '\u{1f7d}'), ('\u{1fbb}', '\u{1fc1}'), ('\u{1fc9}', '\u{1fc9}'),
    ('\u{1fcb}',  '\u{1fcb}'), ('\u{1fcd}', '\u{1fcf}'), ('\u{1fd3}', '\u{1fd3}'),
    ('\u{1fdb}',  '\u{1fdb}'), ('\u{1fdd}', '\u{1fdf}'), ('\u{1fe3}', '\u{1fe3}'),
    ('\u{1feb}',  '\u{1feb}'), ('\u{1fed}', '\u{1fef}'), ('\u{1ff9}', '\u{1ff9}'),
    ('\u{1ffb}',  '\u{1ffb}'), ('\u{1ffd}', '\u{1ffe}'),
    ('\u{2010}',  '\u{2013}'),  // hyphens and short dashes
    ('\u{2015}',  '\u{201f}'),  // a bar; quotes
    ('\u{2024}',  '\u{2025}'),  // leaders like points
    ('\u{2032}',  '\u{2037}'),  // primes like quotes
    ('\u{2039}',  '\u{203a}'),  // quotes like < and >
    ('\u{203c}',  '\u{203c}'),  // !!
    ('\u{2041}',  '\u{2041}'), ('\u{2043}', '\u{2044}'), ('\u{2047}', '\u{2049}'),
    ('\u{204e}',  '\u{204f}'), ('\u{2052}', '\u{2053}'), ('\u{2057}', '\u{2057}'),
    ('\u{205a}',  '\u{205a}'),
    ('\u{2070}',  '\u{209c}'),  // letters and digits above and below the line
    ('\u{2100}',  '\u{214f}'),  // letters as symbols: the Kelvin sign and its like
    ('\u{2160}',  '\u{2188}'),  // Roman numbers
    ('\u{2212}',  '\u{2212}'), ('\u{2215}', '\u{2219}'), ('\u{2223}', '\u{2223}'),
    ('\u{2225}',  '\u{2225}'), ('\u{2236}', '\u{2236}'), ('\u{223c}', '\u{223c}'),
    ('\u{22c5}',  '\u{22c6}'), ('\u{2329}', '\u{232a}'), ('\u{2373}', '\u{237a}'),
    ('\u{23d0}',  '\u{23d0}'),
    ('\u{2460}',  '\u{24ff}'),  // letters and digits in circles and brackets
    ('\u{2758}',  '\u{275f}'),  // ornaments like bars and quotes
    ('\u{2768}',  '\u{2775}'),  // ornaments like brackets
    ('\u{2795}',  '\u{2797}'), ('\u{27cb}', '\u{27cd}'), ('\u{292b}', '\u{292c}'),
    ('\u{2983}',  '\u{2986}'), ('\u{29f5}', '\u{29f9}'), ('\u{2a74}', '\u{2a76}'),
    ('\u{2c60}',  '\u{2cff}'),  // more Latin; Coptic
    ('\u{2d4f}',  '\u{2d4f}'), ('\u{2d54}', '\u{2d55}'),
    ('\u{2e80}',  '\u{2fdf}'),  // radicals, which look like whole signs
    ('\u{3008}',  '\u{3009}'), ('\u{3014}', '\u{3015}'), ('\u{3033}', '\u{3033}'),
    ('\u{3200}', '\u{33ff}'),
    ('\u{4e36}',  '\u{4e36}'), ('\u{4e3f}', '\u{4e3f}'),
    ('\u{a4d0}',  '\u{a4ff}'),  // Lisu, whose letters look Latin
    ('\u{a60e}',  '\u{a60e}'), ('\u{a6df}', '\u{a6df}'),
    ('\u{a700}',  '\u{a7ff}'),  // tones; more Latin
    ('\u{a8fa}',  '\u{a8fa}'),
    ('\u{a960}',  '\u{a97c}'),  // parts of Korean syllables
    ('\u{aa32}',  '\u{aa32}'), ('\u{ab30}', '\u{abbf}'),
    ('\u{d7b0}',  '\u{d7fb}'),  // parts of Korean syllables
    ('\u{f900}',  '\u{faff}'),  // Chinese signs twice
    ('\u{fb00}',  '\u{fdff}'),  // ligatures; Hebrew and Arabic again
    ('\u{fe10}',  '\u{feff}'),  // small and turned signs; Arabic again
    ('\u{ff02}',  '\u{ff07}'), ('\u{ff0a}', '\u{ff0b}'), ('\u{ff0d}', '\u{ff19}'), // wide ASCII
    ('\u{ff1b}',  '\u{ff1e}'), ('\u{ff20}', '\u{ffdc}'), ('\u{ffe0}', '\u{ffee}'),
    ('\u{10100}', '\u{1018e}'), // points and numbers of old scripts
    ('\u{10280}', '\u{1049d}'), // Lycian, Carian, Old Italic, Deseret: many look Latin
    ('\u{10500}', '\u{105ff}'),
    ('\u{10780}', '\u{107ba}'),
    ('\u{10800}', '\u{10fff}'), // from the right
    ('\u{111c2}', '\u{111c3}'), ('\u{113d1}', '\u{113d1}'), // signs that join with the next
    ('\u{118a0}', '\u{118ff}'), // Warang Citi, whose letters look Latin
    ('\u{1193f}', '\u{1193f}'), ('\u{11941}', '\u{11941}'), ('\u{11a84}', '\u{11a89}'),
    ('\u{11d46}', '\u{11d46}'), ('\u{11f02}', '\u{11f02}'),
    ('\u{16f00}', '\u{16fff}'), // Miao
    ('\u{1ccd6}', '\u{1ccf9}'), // letters and digits as old computers drew them
    ('\u{1d100}', '\u{1d1ff}'), // notes, which join
    ('\u{1d206}', '\u{1d245}'),
    ('\u{1d400}', '\u{1d7ff}'), // letters of mathematics
    ('\u{1df00}', '\u{1dfff}'), ('\u{1e030}', '\u{1e06d}'),
    ('\u{1e800}', '\u{1efff}'), // from the right
    ('\u{1f100}', '\u{1f2ff}'), // letters in boxes; halves of flags
    ('\u{1f3fb}', '\u{1f3ff}'), // colours of skin, which join
    ('\u{1f700}', '\u{1f77f}'), // alchemy
    ('\u{1fbf0}', '\u{1fbf9}'), // digits as old displays drew them
    ('\u{2f800}', '\u{2fa1f}'), // Chinese signs twice
];

/// Letters of Greek, Cyrillic and Armenian that look like Latin ones.
const LETTERS: &str = "\
    ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹϜͿαγηικνορσυχωϲϳϱ\
    АВЕЗКМНОРСТУХЅІЈҮӀԌԚԜѴҺабвгекморсухѕіјһԁԛԝѵӏүҽԍӡь\
    ՕՏԼՍՅաեզհյոսցքօւ";

/// The scripts whose letters are taken for one another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    Latin,
    Greek,
    Cyrillic,
    Armenian,
}

/// Whether a sign is spelled out wherever it stands.
pub fn is_always(character: char) -> bool {
    let after = ALWAYS.partition_point(|&(first, _)| first <= character);
    let range = after.checked_sub(1).and_then(|at| ALWAYS.get(at));
    range.is_some_and(|&(_, last)| character <= last)
}

/// Where letters stand that could be taken for others, in order.
pub struct Lookalikes {
    places: std::iter::Peekable<std::vec::IntoIter<usize>>,
}

impl Lookalikes {
    /// Whether one stands at this byte; asked in the order of the text.
    pub fn is_at(&mut self, at: usize) -> bool {
        self.places.next_if_eq(&at).is_some()
    }
}

/// The letters of a text that could be taken for others, by the words they stand in.
pub fn in_words(text: &str) -> Lookalikes {
    let mut places = Vec::new();
    if !text.is_ascii() {
        let mut word = Word::default();
        for (at, character) in text.char_indices() {
            if character.is_alphanumeric() {
                word.add(at, character);
            } else {
                std::mem::take(&mut word).end(&mut places);
            }
        }
        word.end(&mut places);
    }
    Lookalikes { places: places.into_iter().peekable() }
}

/// What was seen of a word.
#[derive(Default)]
struct Word {
    script: Option<Script>,
    is_mixed: bool,
    /// Whether a letter shows that the word is not Latin.
    is_plain: bool,
    places: Vec<usize>,
}

impl Word {
    fn add(&mut self, at: usize, character: char) {
        let Some(script) = script(character) else { return };
        self.is_mixed |= self.script.is_some_and(|known| known != script);
        self.script = Some(script);
        if script == Script::Latin {
            return;
        }
        self.places.push(at);
        self.is_plain |= !LETTERS.contains(character);
    }

    fn end(self, places: &mut Vec<usize>) {
        if self.is_mixed || !self.is_plain {
            places.extend(self.places);
        }
    }
}

const fn script(character: char) -> Option<Script> {
    match character {
        'A'..='Z' | 'a'..='z' | '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => {
            Some(Script::Latin)
        }
        '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Some(Script::Greek),
        '\u{400}'..='\u{52f}' | '\u{1c80}'..='\u{1c8f}' => Some(Script::Cyrillic),
        '\u{530}'..='\u{58f}' => Some(Script::Armenian),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_can_be_bisected() {
        assert!(ALWAYS.iter().all(|(first, last)| first <= last));
        for pair in ALWAYS.windows(2) {
            assert!(pair[0].1 < pair[1].0, "{:x?} and {:x?}", pair[0], pair[1]);
        }
    }

    #[test]
    fn a_word_shows_its_script_or_is_spelled_out() {
        #[rustfmt::skip]
        let cases: &[(&str, usize, &str)] = &[
            ("git push",        0, "Latin alone"),
            ("привет мир",      0, "words that cannot be Latin"),
            ("раураl.com",      5, "Cyrillic among Latin"),
            ("сор",             3, "Cyrillic that could be Latin"),
            ("ο καλός",         1, "a single letter, a word that shows its script"),
            ("naïve café",      0, "accents are Latin"),
            ("日本語 и 한국어",  0, "other scripts are not taken for Latin"),
            ("файл2",           0, "digits belong to every script"),
            ("жο",              2, "two scripts that are not Latin"),
        ];
        for (text, want, why) in cases {
            assert_eq!(in_words(text).places.count(), *want, "`{text}`: {why}");
        }
    }
}

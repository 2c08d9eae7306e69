//! Genres by number: ID3v1's list (id3.org, appendix A) with Winamp's additions up to 5.6.

/// Names in the order of their numbers.
pub const GENRES: [&str; 192] = [
    "Blues",
    "Classic Rock",
    "Country",
    "Dance",
    "Disco",
    "Funk",
    "Grunge",
    "Hip-Hop",
    "Jazz",
    "Metal",
    "New Age",
    "Oldies",
    "Other",
    "Pop",
    "R&B",
    "Rap",
    "Reggae",
    "Rock",
    "Techno",
    "Industrial",
    "Alternative",
    "Ska",
    "Death Metal",
    "Pranks",
    "Soundtrack",
    "Euro-Techno",
    "Ambient",
    "Trip-Hop",
    "Vocal",
    "Jazz+Funk",
    "Fusion",
    "Trance",
    "Classical",
    "Instrumental",
    "Acid",
    "House",
    "Game",
    "Sound Clip",
    "Gospel",
    "Noise",
    "Alternative Rock",
    "Bass",
    "Soul",
    "Punk",
    "Space",
    "Meditative",
    "Instrumental Pop",
    "Instrumental Rock",
    "Ethnic",
    "Gothic",
    "Darkwave",
    "Techno-Industrial",
    "Electronic",
    "Pop-Folk",
    "Eurodance",
    "Dream",
    "Southern Rock",
    "Comedy",
    "Cult",
    "Gangsta Rap",
    "Top 40",
    "Christian Rap",
    "Pop/Funk",
    "Jungle",
    "Native American",
    "Cabaret",
    "New Wave",
    "Psychedelic",
    "Rave",
    "Showtunes",
    "Trailer",
    "Lo-Fi",
    "Tribal",
    "Acid Punk",
    "Acid Jazz",
    "Polka",
    "Retro",
    "Musical",
    "Rock & Roll",
    "Hard Rock",
    "Folk",
    "Folk-Rock",
    "National Folk",
    "Swing",
    "Fast-Fusion",
    "Bebop",
    "Latin",
    "Revival",
    "Celtic",
    "Bluegrass",
    "Avantgarde",
    "Gothic Rock",
    "Progressive Rock",
    "Psychedelic Rock",
    "Symphonic Rock",
    "Slow Rock",
    "Big Band",
    "Chorus",
    "Easy Listening",
    "Acoustic",
    "Humour",
    "Speech",
    "Chanson",
    "Opera",
    "Chamber Music",
    "Sonata",
    "Symphony",
    "Booty Bass",
    "Primus",
    "Porn Groove",
    "Satire",
    "Slow Jam",
    "Club",
    "Tango",
    "Samba",
    "Folklore",
    "Ballad",
    "Power Ballad",
    "Rhythmic Soul",
    "Freestyle",
    "Duet",
    "Punk Rock",
    "Drum Solo",
    "A Cappella",
    "Euro-House",
    "Dance Hall",
    "Goa",
    "Drum & Bass",
    "Club-House",
    "Hardcore",
    "Terror",
    "Indie",
    "BritPop",
    "Afro-Punk",
    "Polsk Punk",
    "Beat",
    "Christian Gangsta Rap",
    "Heavy Metal",
    "Black Metal",
    "Crossover",
    "Contemporary Christian",
    "Christian Rock",
    "Merengue",
    "Salsa",
    "Thrash Metal",
    "Anime",
    "JPop",
    "Synthpop",
    "Abstract",
    "Art Rock",
    "Baroque",
    "Bhangra",
    "Big Beat",
    "Breakbeat",
    "Chillout",
    "Downtempo",
    "Dub",
    "EBM",
    "Eclectic",
    "Electro",
    "Electroclash",
    "Emo",
    "Experimental",
    "Garage",
    "Global",
    "IDM",
    "Illbient",
    "Industro-Goth",
    "Jam Band",
    "Krautrock",
    "Leftfield",
    "Lounge",
    "Math Rock",
    "New Romantic",
    "Nu-Breakz",
    "Post-Punk",
    "Post-Rock",
    "Psytrance",
    "Shoegaze",
    "Space Rock",
    "Trop Rock",
    "World Music",
    "Neoclassical",
    "Audiobook",
    "Audio Theatre",
    "Neue Deutsche Welle",
    "Podcast",
    "Indie Rock",
    "G-Funk",
    "Dubstep",
    "Garage Rock",
    "Psybient",
];

/// The name of a number.
pub fn name(number: usize) -> Option<&'static str> {
    GENRES.get(number).copied()
}

/// The number of a name, compared without case.
pub fn number(name: &str) -> Option<u8> {
    GENRES.iter().position(|genre| genre.eq_ignore_ascii_case(name)).and_then(|at| u8::try_from(at).ok())
}

/// The genres that the text of a genre frame stands for.
///
/// ID3v2.3 section 4.2.1 (TCON): references in brackets, `((` for a literal bracket, a refinement behind
/// them; ID3v2.4 section 4.2.3: bare numbers. Each is met in every version. Text is never split otherwise.
pub fn resolve(text: &str) -> Vec<String> {
    if let Some(name) = reference(text) {
        return vec![name.to_owned()];
    }
    let mut genres: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some((name, behind)) = bracketed(rest) {
        genres.push(name.to_owned());
        rest = behind;
    }
    let refinement = if rest.starts_with("((") { &rest[1..] } else { rest };
    if !refinement.is_empty() && !genres.iter().any(|genre| genre == refinement) {
        genres.push(refinement.to_owned());
    }
    genres
}

/// The text that [`resolve`] reads as this one genre.
pub fn escape(genre: &str) -> String {
    let literal = genre.starts_with("((") || bracketed(genre).is_some();
    if literal { format!("({genre}") } else { genre.to_owned() }
}

fn bracketed(text: &str) -> Option<(&'static str, &str)> {
    let (inside, behind) = text.strip_prefix('(')?.split_once(')')?;
    Some((reference(inside)?, behind))
}

fn reference(text: &str) -> Option<&'static str> {
    match text {
        "RX" => Some("Remix"),
        "CR" => Some("Cover"),
        _ if text.len() <= 3 && text.bytes().all(|byte| byte.is_ascii_digit()) => name(text.parse().ok()?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_resolved_and_text_is_left() {
        for (text, genres) in [
            ("17", &["Rock"][..]),
            ("(17)", &["Rock"]),
            ("(17)Rock", &["Rock"]),
            ("(4)Eurodisco", &["Disco", "Eurodisco"]),
            ("(17)(18)", &["Rock", "Techno"]),
            ("(RX)", &["Remix"]),
            ("((Foo)", &["(Foo)"]),
            ("(Foo) Bar", &["(Foo) Bar"]),
            ("Duo Cello/Piano", &["Duo Cello/Piano"]),
            ("191", &["Psybient"]),
            ("192", &["192"]),
            ("(255)", &["(255)"]),
            ("", &[]),
        ] {
            assert_eq!(resolve(text), genres, "{text}");
        }
    }

    #[test]
    fn escaped_text_is_read_as_it_was() {
        for genre in ["(17)", "((Foo)", "(Foo)", "Rock", "(RX)more"] {
            assert_eq!(resolve(&escape(genre)), [genre]);
        }
    }

    #[test]
    fn numbers_are_found_without_case() {
        assert_eq!((number("rock"), number("No Such Genre")), (Some(17), None));
    }
}

# The demo library: a few generated tracks in several formats, with art and with faults to correct. Sourced, not run.
# shellcheck shell=bash

# Encodes one tone with tags: file, frequency in Hz, then ffmpeg's options (-metadata key=value …).
tone() {
    local file=$1 frequency=$2
    shift 2
    ffmpeg -nostdin -v error -y -f lavfi -i "sine=frequency=$frequency:duration=3" "$@" "$file"
}

# The same with the cover as an attached picture, for containers where ffmpeg can write one.
tone_with_cover() {
    local file=$1 frequency=$2 cover=$3
    shift 3
    ffmpeg -nostdin -v error -y -f lavfi -i "sine=frequency=$frequency:duration=3" -i "$cover" -map 0:a -map 1:v \
        -c:v copy -disposition:v:0 attached_pic -metadata:s:v title=Cover -metadata:s:v comment='Cover (front)' "$@" "$file"
}

# Makes $1/music once; a half-made one is made again.
make_demo_library() {
    local demo=$1 cover=$1/cover.jpg music=$1/music
    [ ! -e "$demo/made" ] || return 0
    say "making a small demo library in $music"
    rm -rf -- "$music"
    mkdir -p "$music/downloads" "$music/Various"
    ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=size=300x300 -frames:v 1 -q:v 3 "$cover"
    local album=(-metadata artist='The Generators' -metadata album_artist='The Generators' -metadata album='Pure Tones' -metadata date=2024 -metadata genre=Electronic)
    tone_with_cover "$music/downloads/t1.flac" 110 "$cover" "${album[@]}" -metadata title='Low Note' -metadata track=1/4
    tone_with_cover "$music/downloads/track (2).mp3" 220 "$cover" "${album[@]}" -metadata title='Octave' -metadata track=2/4 -id3v2_version 3
    tone_with_cover "$music/downloads/3.m4a" 330 "$cover" "${album[@]}" -metadata title='A Fifth' -metadata track=3/4
    tone "$music/downloads/unknown4.opus" 440 "${album[@]}" -metadata title='Concert Pitch' -metadata track=4/4
    tone "$music/Various/AC_DC.ogg" 550 -metadata artist='AC/DC (not them)' -metadata album='Test: Signals?' -metadata title='I/O' -metadata track=1 -metadata date=1999
    tone "$music/Various/AC_DC 2.wav" 660 -metadata artist='AC/DC (not them)' -metadata album='Test: Signals?' -metadata title='Déjà Vu' -metadata track=2 -metadata date=1999
    tone "$music/no tags at all.flac" 770
    touch "$demo/made"
}

# Prints the tree below $1 with sizes; the first hundred lines, as a real library is long.
print_tree() {
    (cd -- "$1" && find . -mindepth 1 -printf '%P\t%y\t%s\n' | sort | head -n 100 |
        awk -F '\t' '{ depth = gsub("/", "/", $1); name = $1; sub(".*/", "", name);
            printf "    %*s%s%s\n", depth * 2, "", name, ($2 == "d" ? "/" : "  (" $3 " bytes)") }') || true
}

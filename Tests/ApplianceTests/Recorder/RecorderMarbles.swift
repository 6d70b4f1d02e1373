import Testing

/// A table of inputs with the effects, the state and the lamp after each; `RecorderRig` explains the format.
struct RecorderMarbles: Sendable, CustomTestStringConvertible {
    var name: String
    var table: String
    var testDescription: String { name }

    static let all = [
        RecorderMarbles(
            name: "from start to text",
            table: """
                start      | open1          | idle      | off
                +9 opened1 | record1        | recording | off
                begun1     | a:1            | recording | off
                +500 written1 |             | recording | steady
                start      | b:1            | recording | steady
                mark       | mark1          | recording | steady
                stop       | close1:command | stopping  | off
                mark       | e:!failed      | stopping  | off
                closed1    | d:1 =idle      | idle      | pulse
                ended1     | maintenance    | idle      | off
                kept       |                | idle      | off
                stop       | f:-            | idle      | off
                rested1    | rest           | idle      | off
                """),
        RecorderMarbles(
            name: "stop, start, stop ends idle",
            table: """
                start opened1 begun1 | open1 record1 a:1 | recording | off
                stop       | close1:command   | stopping | off
                start      |                  | stopping | off
                stop       | c:!busy          | stopping | off
                closed1    | b:1 d:1 =idle    | idle     | pulse
                ended1     | maintenance      | idle     | off
                """),
        RecorderMarbles(
            name: "three presses while recording end idle",
            table: """
                press-start opened1 begun1 | open1 record1 | recording | off
                press-stop press-start press-stop | close1:button | stopping | off
                closed1    | =idle            | idle     | pulse
                """),
        RecorderMarbles(
            name: "a start after a stop begins once the file is closed; further callers also wait for it",
            table: """
                start opened1 begun1 | open1 record1 a:1 | recording | off
                stop start start | close1:command | stopping | off
                closed1    | b:1 open2 =idle  | idle     | pulse
                opened2    | record2          | recording | off
                begun2     | c:2 d:2          | recording | off
                ended1     |                  | recording | off
                """),
        RecorderMarbles(
            name: "toggles cancel each other",
            table: """
                toggle opened1 begun1 | open1 record1 a:1 | recording | off
                toggle     | close1:command   | stopping | off
                toggle     |                  | stopping | off
                toggle     | c:!busy          | stopping | off
                toggle     |                  | stopping | off
                closed1    | b:1 d:1 open2 =idle | idle  | pulse
                toggle opened2 | record2 close2:command | stopping | pulse
                ended2     | f:2 e:2 =idle | idle     | pulse
                """),
        RecorderMarbles(
            name: "a stop while the microphone is being opened waits for it, and keeps its audio",
            table: """
                start      | open1            | idle     | off
                start      |                  | idle     | off
                stop       |                  | idle     | off
                start stop | d:!busy          | idle     | off
                opened1    | record1 close1:command | stopping | off
                begun1     | a:1 b:1          | stopping | off
                closed1    | c:1 e:1 =idle    | idle     | pulse
                """),
        RecorderMarbles(
            name: "no microphone: reported, shown, and tried again by the next press",
            table: """
                start      | open1            | idle     | off
                refused1   | !missing a:!missing =faulted | faulted | off!
                ack press-start | =idle open2 | idle     | off
                opened2    | record2          | recording | off
                """),
        RecorderMarbles(
            name: "a stop before a failed opening has stopped nothing; a start after it tries again",
            table: """
                start stop start | open1      | idle     | off
                refused1   | !missing a:!missing b:- open2 =faulted | faulted | off!
                refused1   |                  | faulted  | off!
                refused2   | !missing c:!missing | faulted | off!
                """),
        RecorderMarbles(
            name: "the end arrives before the close and the beginning",
            table: """
                start opened1 stop | open1 record1 close1:command | stopping | off
                ended1     | b:1 a:1 maintenance =idle | idle | off
                closed1    |                  | idle     | off
                begun1     |                  | idle     | off
                written1   |                  | idle     | off
                """),
        RecorderMarbles(
            name: "a recording whose microphone ends, and one that fails",
            table: """
                start opened1 begun1 | open1 record1 a:1 | recording | off
                closed1    | =idle            | idle     | pulse
                ended1     | maintenance      | idle     | off
                start opened2 | open2 record2 break-off | recording | off
                failed2    | !missing b:!missing =faulted | faulted | off!
                broken-off | maintenance      | faulted  | off!
                """),
        RecorderMarbles(
            name: "the lamp is steady only while bytes reach the disk and the microphone is alive",
            table: """
                start opened1 begun1 | open1 record1 a:1 | recording | off
                +500 written1 |               | recording | steady
                +2900 silent1 |               | recording | steady
                +200 silent1  | !failed       | recording | off!
                +200 silent1  |               | recording | off!
                ack        |                  | recording | off
                +100 written1 |               | recording | steady
                +100 dead1 |                  | recording | off
                +100 written1 |               | recording | steady
                stop       | close1:command   | stopping | off
                """),
        RecorderMarbles(
            name: "a pause records nothing, loses nothing, and needs no disk progress",
            table: """
                pause      | a:!failed        | idle      | off
                start opened1 begun1 | open1 record1 b:1 | recording | off
                +500 written1 |               | recording | steady
                pause      | pause1 c:1 =paused | paused  | paused
                pause      | d:1              | paused    | paused
                mark       | e:!failed        | paused    | paused
                +60000 silent1 |              | paused    | paused
                press-redact | redact1        | paused    | paused
                fault      |                  | paused    | paused!
                ack press-resume | resume1 =recording | recording | off
                +2900 silent1 |               | recording | off
                +100 written1 |               | recording | steady
                resume     | f:1              | recording | steady
                press-pause | pause1 =paused  | paused    | paused
                stop       | close1:command   | stopping  | off
                resume     | h:!failed        | stopping  | off
                press-redact |                | stopping  | off
                closed1    | g:1 =idle        | idle      | pulse
                """),
        RecorderMarbles(
            name: "a pause before the first samples begins with the recording, and the start is answered",
            table: """
                start pause | open1           | idle      | off
                opened1    | pause1 record1 b:1 a:1 =paused | paused | paused
                begun1     |                  | paused    | paused
                press-resume | resume1 =recording | recording | off
                start stop closed1 | c:1 close1:command d:1 =idle | idle | pulse
                start pause resume opened2 | open2 record2 f:2 g:2 | recording | off
                pause start | pause2 e:2 h:2 =paused resume2 i:2 =recording | recording | off
                """),
        RecorderMarbles(
            name: "start resumes a paused recording, by a command and by the button",
            table: """
                start opened1 begun1 | open1 record1 a:1 | recording | off
                pause      | pause1 b:1 =paused | paused  | paused
                start      | resume1 c:1 =recording | recording | off
                +100 written1 |               | recording | steady
                pause      | pause1 d:1 =paused | paused  | paused
                press-start | resume1 =recording | recording | off
                stop closed1 | close1:command e:1 =idle | idle | pulse
                start pause start opened2 | open2 record2 g:2 | recording | off
                begun2     | f:2 h:2          | recording | off
                """),
        RecorderMarbles(
            name: "a pause of a recording that fails to open fails with it",
            table: """
                start pause | open1           | idle      | off
                refused1   | !missing a:!missing b:!missing =faulted | faulted | off!
                """),
        RecorderMarbles(
            name: "one recording's transcription during the next recording",
            table: """
                start opened1 begun1 stop closed1 | open1 record1 a:1 close1:command b:1 =idle | idle | pulse
                start opened2 begun2 | open2 record2 c:2 | recording | off
                failed1    | !missing         | recording | off!
                ack +500 written2 |           | recording | steady
                stop closed2 | close2:command d:2 =idle | idle | pulse
                ended2     | maintenance      | idle     | off
                rested1    |                  | idle     | off
                """),
        RecorderMarbles(
            name: "faults while idle, recording, closing; an earlier press acknowledges nothing",
            table: """
                fault      | =faulted         | faulted  | off!
                +50 late-ack |                | faulted  | off!
                ack        | =idle            | idle     | off
                start opened1 begun1 fault | open1 record1 a:1 | recording | off!
                stop fault | close1:command   | stopping | off!
                closed1    | b:1 =faulted     | faulted  | pulse!
                ack        | =idle            | idle     | pulse
                stuck      | !panel =faulted  | faulted  | pulse!
                """),
        RecorderMarbles(
            name: "an export, and what hides it",
            table: """
                export     |                  | idle     | doubleBlink
                exported   | maintenance      | idle     | done
                kept       |                  | idle     | done
                +3000 export |                | idle     | doubleBlink
                unexported | =faulted         | faulted  | off!
                ack start opened1 export +100 written1 | =idle open1 record1 | recording | steady
                stop       | close1:command   | stopping | doubleBlink
                closed1 exported | b:1 =idle | idle | done
                """),
        RecorderMarbles(
            name: "a stick without copies is not a fault, and does not hide another stick's copy",
            table: """
                strange    |                  | idle     | refused
                +5999      |                  | idle     | refused
                +1         |                  | idle     | off
                strange export |              | idle     | doubleBlink
                strange    |                  | idle     | doubleBlink
                exported strange | maintenance| idle     | refused
                kept       |                  | idle     | refused
                start opened1 +100 written1 | open1 record1 | recording | steady
                """),
        RecorderMarbles(
            name: "a laptop, and what hides it",
            table: """
                laptop     |                  | idle     | doubleFlash
                +500 laptop |                 | idle     | doubleFlash
                start opened1 begun1 +100 written1 | open1 record1 a:1 | recording | steady
                stop closed1 | close1:command b:1 =idle | idle | pulse
                ended1     | maintenance      | idle     | doubleFlash
                export     |                  | idle     | doubleBlink
                exported   |                  | idle     | done
                +3000 unplugged |             | idle     | off
                """),
        RecorderMarbles(
            name: "sealed recordings are opened, maintained again, and locked",
            table: """
                laptop     |                  | idle     | doubleFlash
                unsealed   | maintenance      | idle     | open
                locked     | break-off        | idle     | doubleFlash
                unsealed   |                  | idle     | open
                kept       | maintenance      | idle     | open
                kept       |                  | idle     | open
                start opened1 begun1 +100 written1 | open1 record1 a:1 | recording | steady
                locked     |                  | recording | steady
                stop closed1 | close1:command b:1 =idle | idle | pulse
                ended1     | maintenance      | idle     | doubleFlash
                """),
        RecorderMarbles(
            name: "an added file is maintained, even after running maintenance or a recording",
            table: """
                added7     | maintenance      | idle     | off
                added8     | break-off        | idle     | off
                broken-off | maintenance      | idle     | off
                kept       |                  | idle     | off
                start opened1 begun1 +100 written1 | open1 record1 a:1 | recording | steady
                added9     |                  | recording | steady
                """),
        RecorderMarbles(
            name: "maintenance gives way to a recording, and resumes",
            table: """
                start opened1 closed1 ended1 | open1 record1 =idle a:1 maintenance | idle | off
                writes     |                  | idle     | pulse
                start      | open2            | idle     | pulse
                refused2   | !missing b:!missing =faulted | faulted | pulse!
                ack start opened3 | =idle open3 record3 break-off | recording | off
                stop closed3 ended3 | close3:command d:3 =idle c:3 | idle | pulse
                broken-off | maintenance      | idle     | off
                kept       |                  | idle     | off
                """),
        RecorderMarbles(
            name: "failed maintenance is tried again after the next recording, and after a pause",
            table: """
                start opened1 begun1 ended1 | open1 record1 a:1 maintenance =idle | idle | off
                unkept     | !backlog =faulted | faulted | off!
                again1     |                  | faulted  | off!
                again2     | maintenance      | faulted  | off!
                ack unkept | =idle            | idle     | off
                start opened2 begun2 ended2 | open2 record2 b:2 maintenance =idle | idle | off
                """),
        RecorderMarbles(
            name: "shutting down closes the current recording, and starts nothing",
            table: """
                start opened1 begun1 | open1 record1 a:1 | recording | off
                shutdown   | close1:shutdown  | stopping | off
                start      | c:!failed        | stopping | off
                closed1    | b:1 =idle        | idle     | pulse
                ended1     |                  | idle     | off
                start      | d:!failed        | idle     | off
                """),
        RecorderMarbles(
            name: "shutting down while the microphone is being opened, with a start after a stop",
            table: """
                start stop start | open1      | idle     | off
                shutdown   | c:!failed        | idle     | off
                opened1    | record1 close1:command | stopping | off
                ended1     | b:1 d:1 a:1 =idle | idle    | off
                """),
        RecorderMarbles(
            name: "shutting down while idle interrupts maintenance",
            table: """
                start opened1 begun1 ended1 | open1 record1 a:1 maintenance =idle | idle | off
                shutdown   | break-off b:-    | idle     | off
                broken-off |                  | idle     | off
                """),
        RecorderMarbles(
            name: "the button marks and switches off",
            table: """
                press-mark |                  | idle     | off
                press-start opened1 press-mark | open1 record1 | recording | off
                begun1 press-mark | mark1     | recording | off
                marked1    |                  | recording | off
                hold       | off              | recording | off
                """),
    ]
}

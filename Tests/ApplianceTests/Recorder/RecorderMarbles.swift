import Testing

/// A table. Each line has inputs, and the effects, state and lamp after them. `RecorderRig` explains the format.
struct RecorderMarbles: Sendable, CustomTestStringConvertible {
    var name: String
    var table: String
    var testDescription: String { name }

    static let all = [
        RecorderMarbles(
            name: "a recording from its start to its transcript",
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
                maintained |                | idle      | off
                stop       | f:-            | idle      | off
                timeout1   | release        | idle      | off
                """),
        RecorderMarbles(
            name: "after stop, start and stop the recorder is idle",
            table: """
                start opened1 begun1 | open1 record1 a:1 | recording | off
                stop       | close1:command   | stopping | off
                start      |                  | stopping | off
                stop       | c:!busy          | stopping | off
                closed1    | b:1 d:1 =idle    | idle     | pulse
                ended1     | maintenance      | idle     | off
                """),
        RecorderMarbles(
            name: "after three presses during a recording the recorder is idle",
            table: """
                press-start opened1 begun1 | open1 record1 | recording | off
                press-stop press-start press-stop | close1:button | stopping | off
                closed1    | =idle            | idle     | pulse
                """),
        RecorderMarbles(
            name: "a start after a stop takes effect once the file is closed; later starts wait for that recording",
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
            name: "a stop while the microphone is being opened waits for the recording and keeps its audio",
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
            name: "a missing microphone is reported and shown, and the next press tries again",
            table: """
                start      | open1            | idle     | off
                open-failed1 | !missing a:!missing =faulted | faulted | off!
                ack press-start | =idle open2 | idle     | off
                opened2    | record2          | recording | off
                """),
        RecorderMarbles(
            name: "without a microphone, a stop is answered without a recording, and a later start tries again",
            table: """
                start stop start | open1      | idle     | off
                open-failed1 | !missing a:!missing b:- open2 =faulted | faulted | off!
                open-failed1 |                  | faulted  | off!
                open-failed2 | !missing c:!missing | faulted | off!
                """),
        RecorderMarbles(
            name: "a recording ends before its close and its beginning are reported",
            table: """
                start opened1 stop | open1 record1 close1:command | stopping | off
                ended1     | b:1 a:1 maintenance =idle | idle | off
                closed1    |                  | idle     | off
                begun1     |                  | idle     | off
                written1   |                  | idle     | off
                """),
        RecorderMarbles(
            name: "one recording ends when its microphone ends, and the next one fails",
            table: """
                start opened1 begun1 | open1 record1 a:1 | recording | off
                closed1    | =idle            | idle     | pulse
                ended1     | maintenance      | idle     | off
                start opened2 | open2 record2 interrupt | recording | off
                failed2    | !missing b:!missing =faulted | faulted | off!
                interrupted | maintenance     | faulted  | off!
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
                +100 disconnected1 |          | recording | off
                +100 written1 |               | recording | steady
                stop       | close1:command   | stopping | off
                """),
        RecorderMarbles(
            name: "while a recording is paused, marks are refused and the disk need not make progress",
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
            name: "a pause before the first samples takes effect when the recording opens, and the start is answered",
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
            name: "if the microphone cannot be opened, a pause fails like the start",
            table: """
                start pause | open1           | idle      | off
                open-failed1 | !missing a:!missing b:!missing =faulted | faulted | off!
                """),
        RecorderMarbles(
            name: "a recording is transcribed during the next recording",
            table: """
                start opened1 begun1 stop closed1 | open1 record1 a:1 close1:command b:1 =idle | idle | pulse
                start opened2 begun2 | open2 record2 c:2 | recording | off
                failed1    | !missing         | recording | off!
                ack +500 written2 |           | recording | steady
                stop closed2 | close2:command d:2 =idle | idle | pulse
                ended2     | maintenance      | idle     | off
                timeout1   |                  | idle     | off
                """),
        RecorderMarbles(
            name: "faults while idle, recording and closing; a press before a fault does not acknowledge it",
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
            name: "an export, and states that hide it",
            table: """
                export     |                  | idle     | doubleBlink
                exported   | maintenance      | idle     | done
                maintained |                  | idle     | done
                +3000 export |                | idle     | doubleBlink
                export-failed | =faulted      | faulted  | off!
                ack start opened1 export +100 written1 | =idle open1 record1 | recording | steady
                stop       | close1:command   | stopping | doubleBlink
                closed1 exported | b:1 =idle | idle | done
                """),
        RecorderMarbles(
            name: "a refused stick is not a fault and does not hide the export to another stick",
            table: """
                stick-refused |               | idle     | refused
                +5999      |                  | idle     | refused
                +1         |                  | idle     | off
                stick-refused export |        | idle     | doubleBlink
                stick-refused |               | idle     | doubleBlink
                exported stick-refused | maintenance | idle   | refused
                maintained |                  | idle     | refused
                start opened1 +100 written1 | open1 record1 | recording | steady
                """),
        RecorderMarbles(
            name: "a connected laptop, and states that hide it",
            table: """
                laptop     |                  | idle     | doubleFlash
                +500 laptop |                 | idle     | doubleFlash
                start opened1 begun1 +100 written1 | open1 record1 a:1 | recording | steady
                stop closed1 | close1:command b:1 =idle | idle | pulse
                ended1     | maintenance      | idle     | doubleFlash
                export     |                  | idle     | doubleBlink
                exported   |                  | idle     | done
                +3000 laptop-gone |           | idle     | off
                """),
        RecorderMarbles(
            name: "opening sealed recordings starts maintenance, and locking interrupts it",
            table: """
                laptop     |                  | idle     | doubleFlash
                unsealed   | maintenance      | idle     | open
                locked     | interrupt        | idle     | doubleFlash
                unsealed   |                  | idle     | open
                maintained | maintenance      | idle     | open
                maintained |                  | idle     | open
                start opened1 begun1 +100 written1 | open1 record1 a:1 | recording | steady
                locked     |                  | recording | steady
                stop closed1 | close1:command b:1 =idle | idle | pulse
                ended1     | maintenance      | idle     | doubleFlash
                """),
        RecorderMarbles(
            name: "an added file starts maintenance, after the running maintenance or recording if necessary",
            table: """
                added7     | maintenance      | idle     | off
                added8     | interrupt        | idle     | off
                interrupted | maintenance     | idle     | off
                maintained |                  | idle     | off
                start opened1 begun1 +100 written1 | open1 record1 a:1 | recording | steady
                added9     |                  | recording | steady
                """),
        RecorderMarbles(
            name: "a recording interrupts maintenance, which is resumed afterwards",
            table: """
                start opened1 closed1 ended1 | open1 record1 =idle a:1 maintenance | idle | off
                transcribes |                 | idle     | pulse
                start      | open2            | idle     | pulse
                open-failed2 | !missing b:!missing =faulted | faulted | pulse!
                ack start opened3 | =idle open3 record3 interrupt | recording | off
                stop closed3 ended3 | close3:command d:3 =idle c:3 | idle | pulse
                interrupted | maintenance     | idle     | off
                maintained |                  | idle     | off
                """),
        RecorderMarbles(
            name: "failed maintenance is tried again after a delay and after the next recording",
            table: """
                start opened1 begun1 ended1 | open1 record1 a:1 maintenance =idle | idle | off
                maintenance-failed | !backlog =faulted | faulted | off!
                retry1     |                  | faulted  | off!
                retry2     | maintenance      | faulted  | off!
                ack maintenance-failed | =idle | idle     | off
                start opened2 begun2 ended2 | open2 record2 b:2 maintenance =idle | idle | off
                """),
        RecorderMarbles(
            name: "shutting down closes the current recording, and later starts are refused",
            table: """
                start opened1 begun1 | open1 record1 a:1 | recording | off
                shutdown   | close1:shutdown  | stopping | off
                start      | c:!failed        | stopping | off
                closed1    | b:1 =idle        | idle     | pulse
                ended1     |                  | idle     | off
                start      | d:!failed        | idle     | off
                """),
        RecorderMarbles(
            name: "shutting down while the microphone is being opened cancels a start that waits for a stop",
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
                shutdown   | interrupt b:-    | idle     | off
                interrupted |                 | idle     | off
                """),
        RecorderMarbles(
            name: "the button marks and shuts down",
            table: """
                press-mark |                  | idle     | off
                press-start opened1 press-mark | open1 record1 | recording | off
                begun1 press-mark | mark1     | recording | off
                marked1    |                  | recording | off
                hold       | off              | recording | off
                """),
    ]
}

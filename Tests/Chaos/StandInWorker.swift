import FoundationEssentials
import Glibc

/// Stands in for a decode worker, and immediately returns one word for each utterance.
///
/// Implements the protocol in Sources/Recognition/Workers.
enum StandInWorker {
    private struct Request: Decodable {
        var partials: Bool?
    }

    static func run() {
        send(#"{"ready":{"name":"stand-in","version":"1","model":"none"}}"#)
        while let (kind, payload) = frame(), kind == UInt8(ascii: "r") {
            let request = try? JSONDecoder().decode(Request.self, from: Data(payload))
            var samples = 0
            while let (kind, payload) = frame(), kind == UInt8(ascii: "a") {
                samples += payload.count / 2
                if request?.partials == true { send(#"{"partial":"some"}"#) }
            }
            if request?.partials == true {
                send(#"{"done":true}"#)
                continue
            }
            send(#"{"channel":{"cepstralMean":[1]}}"#)
            send(
                #"{"result":{"words":[{"text":"word\#(samples)","range":{"start":0,"end":\#(samples)},"#
                    + #""confidence":0.5}],"alternatives":[],"cpuSeconds":0}}"#)
        }
    }

    private static func send(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = write(STDOUT_FILENO, bytes, bytes.count)
    }

    private static func frame() -> (UInt8, [UInt8])? {
        guard let head = read(5) else { return nil }
        let length = head[1...].reversed().reduce(0) { $0 << 8 | Int($1) }
        return read(length).map { (head[0], $0) }
    }

    private static func read(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var readCount = 0
        while readCount < count {
            let received = bytes.withUnsafeMutableBytes {
                Glibc.read(STDIN_FILENO, $0.baseAddress.map { $0 + readCount }, count - readCount)
            }
            guard received > 0 else { return nil }
            readCount += received
        }
        return bytes
    }
}

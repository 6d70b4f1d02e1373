internal import CPocketSphinx
import System

/// PocketSphinx's log. It is dropped unless `FIELDSCRIBE_LOG` has `decoder=debug`.
enum DecoderLog {
    /// The library's log callback; nil if the log is dropped.
    static var listener: fieldscribe_ps_listener? {
        guard Log.filter.includes(.debug, .decoder) else { return nil }
        return { line in
            guard let line else { return }
            Log.debug(.decoder, "pocketsphinx", ["message": String(cString: line)])
        }
    }
}

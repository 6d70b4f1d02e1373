internal import CPocketSphinx
import System

/// What PocketSphinx says of itself, while it loads a model above all: nothing, unless `FIELDSCRIBE_LOG` asks for `decoder=debug`.
enum DecoderLog {
    /// What the library is to call with each line; nil where nobody wants to know.
    static var listener: fieldscribe_ps_listener? {
        guard Log.filter.includes(.debug, .decoder) else { return nil }
        return { line in
            guard let line else { return }
            Log.debug(.decoder, "pocketsphinx", ["message": String(cString: line)])
        }
    }
}

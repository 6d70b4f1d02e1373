import Glibc

/// Owns strings as C takes a list of them.
final class CStrings {
    // Safety: made here, freed once in deinit; nobody keeps them longer than the object.
    /// Each ends with a zero; they live as long as the object.
    let pointers: [UnsafePointer<CChar>?]

    /// Copies the strings.
    init(_ texts: [String]) { pointers = texts.map { UnsafePointer(strdup($0)) } }

    deinit { for pointer in pointers { free(UnsafeMutablePointer(mutating: pointer)) } }
}

extension [UInt8] {
    /// Returns the first occurrence of a text from an index; nil if there is none.
    func place(of text: StaticString, from start: Int = 0) -> Range<Int>? {
        let sought = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        return withUnsafeBufferPointer { bytes in
            var place = start
            while place + sought.count <= bytes.count {
                if bytes[place] == sought[0], bytes[place..<place + sought.count].elementsEqual(sought) {
                    return place..<place + sought.count
                }
                place += 1
            }
            return nil
        }
    }
}

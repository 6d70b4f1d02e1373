import Core

/// Speech in other languages than English, spoken by espeak-ng.
struct OtherLanguages {
    private static let texts = [
        ("de", "Die Bauern bringen das Korn nach der Ernte in den Speicher, und die Kinder helfen ihnen dabei."),
        ("de", "Gestern Abend sind wir lange am Fluss entlang gegangen und haben über alte Zeiten gesprochen."),
        ("fr", "Les femmes du village préparent le beurre de karité pendant que les enfants jouent sous le baobab."),
        ("fr", "Demain matin nous partirons de bonne heure pour arriver à la ville avant la grande chaleur."),
        ("es", "Mi abuela cuenta historias antiguas todas las noches cuando la familia se reúne en la cocina."),
        ("es", "El río bajó con mucha fuerza después de la lluvia y nadie pudo cruzar el puente."),
        ("it", "Il vecchio pescatore conosce ogni scoglio della costa e racconta volentieri le sue avventure."),
        ("it", "Questa mattina il mercato era pieno di gente che comprava frutta e verdura fresca."),
    ]

    let workshop: Workshop

    func items() throws -> [Corpus.Item] {
        try Self.texts.enumerated().map { index, text in
            let (voice, path) = ("\(workshop.folder)/voice.wav", "\(workshop.folder)/\(text.0)\(index).wav")
            guard try MeasuredProcess(["espeak-ng", "-v", text.0, "-s", "150", "-w", voice, text.1]).status == 0 else {
                throw DeviceError(.missing, "espeak-ng", "espeak-ng failed; install espeak-ng")
            }
            try sox([voice, "-r", "16000", path], of: voice)
            return Corpus.Item(path: path, text: text.1)
        }
    }
}

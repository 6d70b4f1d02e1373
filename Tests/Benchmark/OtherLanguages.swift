import Core

/// Speech in languages other than English, and in English for comparison, spoken by espeak-ng.
struct OtherLanguages {
    static let texts: [(language: String, sentences: [String])] = [
        (
            "de",
            [
                "Die Bauern bringen das Korn nach der Ernte in den Speicher, und die Kinder helfen ihnen dabei.",
                "Gestern Abend sind wir lange am Fluss entlang gegangen und haben über alte Zeiten gesprochen.",
                "Der Lehrer hat uns erklärt, warum der Mond manchmal am Tag zu sehen ist.",
                "Wenn es morgen regnet, bleiben wir zu Hause und backen einen Kuchen.",
                "Im Dorf gibt es nur einen Laden, und der macht um sechs Uhr zu.",
                "Meine Schwester arbeitet seit drei Jahren in einem Krankenhaus in Hamburg.",
                "Die neue Brücke soll im nächsten Frühling fertig werden.",
                "Niemand wusste, woher der fremde Mann gekommen war.",
                "Wir haben das Haus verkauft, weil der Garten zu groß geworden ist.",
                "Auf dem Markt kaufte sie zwei Kilo Äpfel und ein frisches Brot.",
                "Der Zug nach München hat heute wieder eine halbe Stunde Verspätung.",
                "Früher haben hier viele Familien von der Fischerei gelebt.",
            ]
        ),
        (
            "fr",
            [
                "Les femmes du village préparent le beurre de karité pendant que les enfants jouent sous le baobab.",
                "Demain matin nous partirons de bonne heure pour arriver à la ville avant la grande chaleur.",
                "Mon grand-père racontait toujours la même histoire quand il pleuvait.",
                "Il faut que tu prennes tes médicaments deux fois par jour.",
                "Nous avons attendu le bus pendant une heure devant la mairie.",
                "La maîtresse a demandé aux élèves de dessiner leur maison.",
                "Je ne comprends pas pourquoi il est parti sans nous dire au revoir.",
                "Le prix du riz a beaucoup augmenté depuis le mois dernier.",
                "Les pêcheurs rentrent au port quand le soleil se couche.",
                "Elle voudrait apprendre à conduire avant la fin de l'année.",
                "On m'a dit que le pont serait fermé jusqu'à lundi.",
                "Autrefois, chaque famille avait un four et faisait son pain.",
            ]
        ),
        (
            "es",
            [
                "Mi abuela cuenta historias antiguas todas las noches cuando la familia se reúne en la cocina.",
                "El río bajó con mucha fuerza después de la lluvia y nadie pudo cruzar el puente.",
                "Los niños van a la escuela caminando porque no hay autobús.",
                "Ayer compramos tres gallinas y un saco de maíz en el mercado.",
                "Cuando era joven trabajaba en una fábrica de zapatos.",
                "Nos gustaría saber quién construyó esta iglesia y en qué año.",
                "El médico viene al pueblo solamente los martes por la mañana.",
                "Antes se hablaba otra lengua en las montañas del norte.",
                "Mi hermano quiere estudiar medicina en la universidad.",
                "La cosecha de este año ha sido peor que la del año pasado.",
                "No se puede entrar sin permiso del alcalde.",
                "Hace mucho calor aquí desde que cortaron los árboles.",
            ]
        ),
        (
            "it",
            [
                "Il vecchio pescatore conosce ogni scoglio della costa e racconta volentieri le sue avventure.",
                "Questa mattina il mercato era pieno di gente che comprava frutta e verdura fresca.",
                "Mio padre lavorava in una miniera quando aveva quindici anni.",
                "Domani andremo in montagna a raccogliere le castagne.",
                "La festa del paese comincia sempre con una processione.",
                "Non riesco a trovare le chiavi della macchina.",
                "Dopo la guerra molte famiglie sono partite per l'America.",
                "Il medico mi ha detto di bere più acqua e di camminare ogni giorno.",
                "Le donne lavavano i panni al fiume anche d'inverno.",
                "Vorrei sapere a che ora parte l'ultimo treno per Bologna.",
                "In questa stanza dormivano sei fratelli e due sorelle.",
                "Ogni sera il nonno accendeva il fuoco e ci leggeva un libro.",
            ]
        ),
        (
            "sw",
            [
                "Wakulima hupeleka mahindi sokoni mapema asubuhi kabla ya jua kuwa kali.",
                "Bibi yangu alikuwa akitusimulia hadithi za zamani kila usiku.",
                "Watoto wanacheza mpira nyuma ya shule baada ya masomo.",
                "Mvua ilinyesha kwa siku tatu na barabara zote zikafungwa.",
                "Mama anapika wali na maharagwe kwa ajili ya wageni.",
                "Kijiji chetu kiko karibu na mto mkubwa wenye samaki wengi.",
                "Nilimwona daktari jana kwa sababu nilikuwa na homa.",
                "Zamani watu wa hapa walikuwa wanaishi kwa uvuvi.",
                "Mwalimu alituambia tusome kitabu hiki kabla ya mtihani.",
                "Kesho tutasafiri kwenda mjini kumtembelea mjomba wetu.",
                "Bei ya sukari imepanda sana mwaka huu.",
                "Wanawake wa kijiji wameanzisha kikundi cha kuweka akiba.",
            ]
        ),
        (
            "en",
            [
                "The farmers carry the grain to the store after the harvest, and the children help them.",
                "Yesterday evening we walked along the river for a long time and talked about old times.",
                "The teacher explained to us why the moon can sometimes be seen by day.",
                "If it rains tomorrow, we will stay at home and bake a cake.",
                "There is only one shop in the village, and it closes at six o'clock.",
                "My sister has worked in a hospital for three years.",
                "The new bridge should be finished next spring.",
                "Nobody knew where the strange man had come from.",
                "We sold the farm because the garden had become too large.",
                "At the market she bought two pounds of apples and a fresh loaf.",
                "The train to the city is half an hour late again today.",
                "In the past many families here lived from fishing.",
            ]
        ),
    ]

    let harness: Harness

    /// Returns the sentences in languages other than English, with empty reference texts, because Moonshine should
    /// write nothing. The language counts as the speaker.
    func foreign() throws -> [FoldSound] {
        try Self.texts.map(\.language).filter { $0 != "en" }.flatMap { language in
            try items(in: language).map { item in
                FoldSound(
                    Corpus.Item(path: item.path, text: ""), speaker: language, try SeamReport.samples(item.path))
            }
        }
    }

    /// Returns each sentence of a language, spoken by two voices.
    func items(in language: String) throws -> [Corpus.Item] {
        let sentences = Self.texts.first { $0.language == language }?.sentences ?? []
        return try sentences.enumerated().flatMap { index, text in
            try ["", "+f3"].map { variant in
                let name = "\(language)\(index)\(variant)"
                let path = try harness.speak(text, voice: language + variant, as: name)
                return Corpus.Item(path: path, text: text)
            }
        }
    }
}

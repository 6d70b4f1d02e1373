import Core

/// Very common English words, such as function words, numbers and forms of address. Recognizers know them well, so
/// boosting them gains nothing.
enum FunctionWords {
    /// The words' keys (`Word.key`).
    static let keys = Set(
        """
        a an the this that these those i me my mine we us our ours you your yours he him his she her hers it its they them
        their theirs myself yourself himself herself itself ourselves themselves who whom whose which what where when why
        how and or but nor so yet if then than as at by for from in into of off on onto out over to too up upon with within
        without about above across after again against along among around away back before behind below beneath beside
        between beyond down during except inside like near outside past since through till toward towards under until
        because though although while whether unless be am is are was were been being do does did done doing have has had
        having can could may might must shall should will would ought not no yes none any some all both each every either
        neither many much more most few less least other another such same own only just also even ever never always often
        still already very quite rather almost here there now well oh ah eh uh um hm hmm mm okay ok i'm i've i'll i'd
        you're you've you'll you'd he's he'll he'd she's she'll she'd it's it'll we're we've we'll we'd they're they've
        they'll they'd that's there's what's who's let's isn't aren't wasn't weren't don't doesn't didn't can't cannot
        couldn't won't wouldn't shan't shouldn't haven't hasn't hadn't mustn't go goes going gone went come comes came get
        gets got say says said make made take took see saw know knew think thought one two three four five six seven eight
        nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty
        sixty seventy eighty ninety hundred thousand million billion first second third mr mrs ms dr mister missus doctor
        """.split(whereSeparator: \.isWhitespace).map(String.init))
}

/// English answers to a question: yes, no, a number, or a few others such as `maybe`.
enum ConfirmationGrammar {
    static let text = """
        #JSGF V1.0;
        grammar confirmation;
        public <answer> = <yes> | <no> | <number> | <other>;
        <yes> = yes [please | sir | ma'am | of course] | yeah | yep | yup | sure | okay | correct | right | exactly
              | absolutely | definitely | of course | that's (right | correct | it) | it is | i do | go ahead | affirmative;
        <no> = no [thanks | thank you | sir | ma'am | way] | nope | nah | never | wrong | incorrect | negative | not (yet | now
             | really | at all) | that's (wrong | not right) | it isn't | it is not | i don't | cancel;
        <number> = zero | <small> | <tens> [<ones>] | <ones> hundred [[and] (<small> | <tens> [<ones>])];
        <small> = <ones> | ten | eleven | twelve | thirteen | fourteen | fifteen | sixteen | seventeen | eighteen | nineteen;
        <ones> = one | two | three | four | five | six | seven | eight | nine;
        <tens> = twenty | thirty | forty | fifty | sixty | seventy | eighty | ninety;
        <other> = maybe | perhaps | i don't know | i do not know | not sure | again | repeat | stop | help;

        """
}

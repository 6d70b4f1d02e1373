# Completion of fieldscribe for bash. Commands, options, formats and engines are asked of the executable, so that this never lags behind.

_fieldscribe() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} program=${COMP_WORDS[0]}
    local command='' index
    COMPREPLY=()

    # The first word that is neither an option nor an option's value.
    for ((index = 1; index < COMP_CWORD; index++)); do
        case ${COMP_WORDS[index]} in
        --config) ((index++)) ;;
        -*) ;;
        *)
            command=${COMP_WORDS[index]}
            break
            ;;
        esac
    done

    case $before in
    --format) _fieldscribe_words "$(_fieldscribe_choices show format)" ;;
    --pass) if [[ $command == transcribe ]]; then _fieldscribe_words 'live fast final'; fi ;;
    --microphone) _fieldscribe_words 'alsa: file: file+fast: tone:' ;;
    --config | --vocabulary | --key) _fieldscribe_files -f ;;
    --model) _fieldscribe_words "$("$program" models 2>/dev/null | sed -n 's/^[* ] \([^ ]*\) .*/\1/p')" ;;
    --output | --to | --directory | --copy) _fieldscribe_files -d ;;
    --punctuation) _fieldscribe_words 'engine none automatic spoken both' ;;
    --speakers) _fieldscribe_words 'no auto 2 3 4' ;;
    --channels) _fieldscribe_words '1 2' ;;
    --engine) _fieldscribe_words "$(_fieldscribe_choices demo engine)" ;;
    --hint) _fieldscribe_words 'dictation search confirmation' ;;
    --recording) _fieldscribe_words "$(_fieldscribe_recordings)" ;;
    --jobs | --by | --seconds | --limit | --context | --alternatives | --name) ;;
    *)
        if [[ -z $command ]]; then
            _fieldscribe_words "$("$program" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p') --help --version"
        elif [[ $word == -* ]]; then
            _fieldscribe_words "$("$program" "$command" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u) --help"
        else
            _fieldscribe_arguments
        fi
        ;;
    esac
}

# What a command takes besides options; speaks to word, program and command of its caller.
_fieldscribe_arguments() {
    case $command in
    transcribe | import) _fieldscribe_files -f ;;
    models) _fieldscribe_models ;;
    recipients) if [[ $before == recipients ]]; then _fieldscribe_words check; else _fieldscribe_files -f; fi ;;
    stick) if [[ $before == stick ]]; then _fieldscribe_words 'allow list forget repair'; fi ;;
    vocabulary) if [[ $before == vocabulary ]]; then _fieldscribe_words 'check prepare use learned learn accept'; else _fieldscribe_files -f; fi ;;
    show | history | export | delete | redact | strike | seal | speakers | verify | review | relisten | accuracy)
        _fieldscribe_words "$(_fieldscribe_recordings)"
        ;;
    esac
}

# The numbers of the recordings.
_fieldscribe_recordings() { "$program" list 2>/dev/null | sed -n 's/^\([0-9][0-9]*\) .*/\1/p'; }

# What an option takes, as the help of a command that has it lists that: `--format F    text, json or html; default text`.
_fieldscribe_choices() {
    "$program" "$1" --help 2>/dev/null | sed -n "s/^ *--$2 [A-Z]  *\\([^;]*\\);.*/\\1/p" | sed 's/,//g; s/ or / /; s/PROGRAM//'
}

# A model that is installed; behind add, a wheel or a folder.
_fieldscribe_models() {
    if [[ ${COMP_WORDS[*]:1:COMP_CWORD-1} == *'models add'* ]]; then
        _fieldscribe_files -f
    else
        _fieldscribe_words "add $("$program" models 2>/dev/null | sed -n 's/^[* ] \([^ ]*\) .*/\1/p')"
    fi
}

_fieldscribe_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$word"); }

_fieldscribe_files() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen "$1" -- "$word")
}

complete -F _fieldscribe fieldscribe

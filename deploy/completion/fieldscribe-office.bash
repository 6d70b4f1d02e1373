# Completion of fieldscribe-office for bash. Commands, options and formats are asked of the executable, so that this never lags behind.

_fieldscribe_office() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} program=${COMP_WORDS[0]}
    local command='' words=''
    COMPREPLY=()
    if [[ $COMP_CWORD -gt 1 ]]; then command=${COMP_WORDS[1]}; fi
    case $before in
    --format)
        words=$("$program" show --help 2>/dev/null | sed -n 's/^ *--format [A-Z]  *\([^;]*\);.*/\1/p' | sed 's/,//g')
        ;;
    --recorder) words=$("$program" list --json 2>/dev/null | sed -n 's/^ *"recorder" : "\(.*\)",$/\1/p' | sort -u) ;;
    --key | --program)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
        ;;
    --archive | --into | --files | --from-files | --to)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
        return
        ;;
    --since | --until | --person | --speaker | --limit | --reading | --lease | --engine | --by) return ;;
    --recording) words=$("$program" list 2>/dev/null | sed -n 's/^\([0-9][0-9]*\) .*/\1/p') ;;
    *)
        if [[ -z $command ]]; then
            words="$("$program" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p') --help --version"
        elif [[ $word == -* ]]; then
            words="$("$program" "$command" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u) --help"
        elif [[ $command == gather ]]; then
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -d -- "$word")
            return
        elif [[ $command == import ]]; then
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
            return
        elif [[ $command =~ ^(show|history|review|accuracy|export)$ ]]; then
            words=$("$program" list 2>/dev/null | sed -n 's/^\([0-9][0-9]*\) .*/\1/p')
        fi
        ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -F _fieldscribe_office fieldscribe-office

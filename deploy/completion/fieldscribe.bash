# Bash completion for fieldscribe and fieldscribe-office. The hidden command `complete` lists the possible next words.

_fieldscribe() {
    local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} line kind words=''
    COMPREPLY=()
    while read -r line; do
        case $line in
        :files | :folders)
            compopt -o filenames 2>/dev/null
            if [[ $line == :files ]]; then kind=-f; else kind=-d; fi
            mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen "$kind" -- "$word")
            ;;
        :recordings) words+=" $("$program" list 2>/dev/null | sed -n 's/^\([0-9][0-9]*\) .*/\1/p')" ;;
        :models) words+=" $("$program" models 2>/dev/null | sed -n 's/^[* ] \([^ ]*\) .*/\1/p')" ;;
        :recorders) words+=" $("$program" list --json 2>/dev/null | sed -n 's/^ *"recorder" : "\(.*\)",$/\1/p' | sort -u)" ;;
        *) words+=" $line" ;;
        esac
    done < <("$program" complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -F _fieldscribe fieldscribe fieldscribe-office

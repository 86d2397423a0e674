"""Words that say nothing of what a text is about, in the languages that a library commonly has.

Accents are folded, as in `lexical`. A word that means something in another of these languages is left out (German `die` and
`war`, Spanish `sin`, French `son`, Italian `come`), as are words of direction (`above`, `up`): how rare a word is in the
library weighs it anyway, so a missing stop word costs little, and a wrongly dropped one hides a topic.
"""

from __future__ import annotations

_ENGLISH = """
a an the and or but nor if then than so as at by for from in into of on onto to with about because is am are was were be been
being do does did doing done has have had having can could may might must shall should will would ought
i me my mine myself we us our ours you your yours he him his she her hers it its itself they them their theirs
this that these those there here who whom whose which what when where why how no not such too very just also
s t d ll ve re m don isn aren wasn doesn didn
"""
_GERMAN = """
der das dem ein eine einer eines einem einen und oder aber auch als auf aus bei durch fur gegen im ins ist sind sein seine
seiner seinen seinem ich du er sie es wir ihr ihre ihren ihrem ihrer mein dein unser euch uns mich mir dich dir sich nicht
kein keine keiner mit nach noch nur ob ohne so uber um unter vom von vor wahrend wenn weil werden wird wurde wurden wie wo
zu zum zur zwischen dass hatte hatten habe haben waren kann konnen muss mussen soll sollen
dieser diese dieses diesem diesen jener jene welche welcher welches warum wer
"""
_FRENCH = """
le la les l un une des du de d et ou mais donc ni car a au aux avec ce cet cette ces dans en entre par pas plus pour qu que
qui quoi quel quelle quels quelles se sa ses leur leurs mon ma mes ton ta tes notre nos votre vos je tu il elle nous vous ils
elles y est sont etait etaient ete etre avoir ont avait sans sous comment quand pourquoi j n
"""
_SPANISH = """
el la los las lo un una unos unas y e o u de del al a en con por para que se su sus es son fue fueron ser esta estan
como cuando donde quien cual cuales no ni si mas pero porque sobre entre hasta desde este estos estas ese esa eso esos esas
yo tu ella nosotros ellos ellas le les nos mi mis muy ya tambien ha han habia hay
"""
_ITALIAN = """
il lo la i gli le un uno una e ed o di da del dello della dei degli delle al allo alla ai agli alle dal dalla dai dalle nel
nella nei nelle sul sulla sui sulle in con per tra fra che chi cui non si se ma anche piu ci ne io tu lui lei noi voi
loro
questo questa questi queste quello quella quelli quelle sono erano essere ha hanno aveva perche quando dove suo sua suoi sue
"""
_PORTUGUESE = """
o a os as um uma uns umas e ou de do da dos das em no na nos nas ao aos por pelo pela pelos pelas para com que se nao mais
mas como quando onde quem qual seu sua seus suas este esta estes estas esse essa isso isto ele ela eles elas eu nos foi sao
ser tem tinha ha muito ja tambem
"""
_DUTCH = """
de het een en of maar van in op te aan met voor door uit over bij naar om dat dit deze die is was waren zijn wordt worden
werd niet geen ook als dan nog wel er ik je jij hij zij ze wij we hun zich mijn jouw hebben heeft kan kunnen zal hoe waar
wie wat waarom
"""
_NORDIC = """
och eller att det som en ett av for med till pa ar var inte har den de han hon jag vi ni sig om fran og ikke til er et ikkje
jeg hun ham seg sig fra ved hvor hva hvad hvem hur vad
"""
_RUSSIAN = """
и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня еще нет о
из ему теперь когда даже ну вдруг ли если уже или ни быть был него до вас нибудь опять уж вам ведь там потом себя ничего ей
может они тут где есть надо ней для мы тебя их чем была сам чтоб без будто чего раз тоже под это этот эта эти того кто
"""
_MEANINGFUL = """
ai bin car ci com dan den die door dos ed em era fur ham hat hay hun io las man mes mit na os par plus pour sin son sur
ton van var war
"""
"""Words that one language above drops, and that another needs or that are names (AI, COM, MIT)."""


def _folded(words: str) -> frozenset[str]:
    return frozenset(words.replace("й", "и").split())


STOP_WORDS = frozenset().union(
    *map(
        _folded,
        (_ENGLISH, _GERMAN, _FRENCH, _SPANISH, _ITALIAN, _PORTUGUESE, _DUTCH, _NORDIC, _RUSSIAN),
    )
) - _folded(_MEANINGFUL)
"""Casefolded, accents folded."""

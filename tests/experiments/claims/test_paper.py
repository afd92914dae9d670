"""What claims say of the paper: its own words, its table, or what is assumed of its pictures, and marked so."""

import re

import pytest
from figures.hand_made import hand_made

from tomnet.experiments.claims.claim import Claim
from tomnet.experiments.registry import EXPERIMENTS

# each was looked up in the paper's source, where 3×3 is set in mathematics
ITS_WORDS = {
    "a roughly tetrahedral arrangement",
    "also true",
    "an implicit grasp of how different agents' sensory abilities render them differentially vulnerable to acquire "
    "false beliefs",
    "better predictions about novel agents drawn from the species which it was trained on",
    "blind and 3×3 agents are easily distinguishable",
    "captures the longer range over which the 9×9 agents can update their beliefs (though again, it infers a soft "
    "observability boundary)",
    "clustered sighted/stateless test agents into two subcategories",
    "collapsed to the prior in the remaining four dimensions",
    "considerably more sensitive",
    "corrective behaviour over longer time periods, even when they were not initially visible",
    "did not, however, learn a hard observability boundary",
    "First two dimensions",
    "first two dimensions",
    "grasp the essential differences between their belief-forming tendencies",
    "greater than chance",
    "had intermediate sensitivities",
    "immediately legible",
    "implicitly infers it, and maps out where the agent will go next",
    "implicitly learns to perform hierarchical inference",
    "leads to better predictions",
    "learns how to approximate Bayes-optimal, online inference",
    "next two dimensions",
    "no substantial difference in results",
    "often changed when a swap was in view",
    "qualitatively identical",
    "qualitatively matched",
    "relatively invariant to changes that occurred out of sight",
    "reverts to the prior",
    "segregated along canonical directions by their empirical action counts",
    "there is little in past behaviour to separate 7×7 agents from 9×9 agents",
    "when the world changes far away from an agent, that agent will persist with a policy that is founded on false "
    "beliefs",
    "will always consume",
    "wouldn't change when the swap was not observable",
}
CLAIMS = [claim for name in EXPERIMENTS for claim in hand_made(name).claims]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_what_the_paper_is_said_to_show_is_in_its_text(claim: Claim):
    assert claim.paper
    quoted = re.findall("“(.*?)”", claim.paper)
    assert set(quoted) <= ITS_WORDS
    only_named = re.fullmatch(r"Fig\. \d\w?, (two examples|beside the analytic posterior); no number", claim.paper)
    assert quoted or only_named or claim.paper.startswith("Table A1: ")
    # a number, an order or a shape that no sentence gives
    rest = re.sub("“.*?”", "", claim.paper)
    if re.search(r"that .* (is|are) ", rest):
        assert "assumed of" in rest


def test_no_words_are_looked_up_that_nobody_quotes():
    assert {words for claim in CLAIMS for words in re.findall("“(.*?)”", claim.paper or "")} == ITS_WORDS

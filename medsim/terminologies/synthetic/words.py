"""The words for names of invented concepts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """The words of one branch of the invented terminology.

    Attributes:
        tag: semantic tag.
        weight: how many of 20 families are in the branch.
        site_first: whether a plain name is "site head" and not "head of site".
        heads: of each noun "singular|plural|other wording|combining form".
        courses: words that can come before the head.
        connective: text between the name and an agent.
        agents: kinds of agents.
        category: the SNOMED CT identifier of the concept above the branch; None for the root.
    """

    tag: str
    weight: int
    site_first: bool
    heads: str
    courses: str
    connective: str
    agents: str
    category: int | None = None


_EPITHETS = (
    "vulgaris fragilis aurata nigricans caerulea maritima gracilis robusta obscura haemolytica "
    "foetida tenuis longipes minuta rosea viridis lutea pallida mutabilis aestiva"
)
_SALTS = (
    "acetate chloride sulphate citrate phosphate tartrate maleate fumarate nitrate oxide hydrate "
    "lactate mesilate bromide palmitate gluconate antigen antibody enzyme oligomer"
)
BRANCHES = (
    Branch(
        tag="disorder",
        weight=9,
        site_first=False,
        heads="inflammation|inflammations|inflammatory change|itis; stricture|strictures|"
        "narrowing|ostenosis; ulcer|ulcers|ulcerative lesion|; fracture|fractures|broken part|; "
        "tumour|tumours|neoplasm|oma; pain|pains|aching|algia; enlargement|enlargements|"
        "hypertrophy|omegaly; haemorrhage|haemorrhages|bleeding|orrhagia; disease|diseases|"
        "disorder|opathy; softening|softenings|loss of firmness|omalacia; hardening|hardenings|"
        "induration|osclerosis; prolapse|prolapses|displacement|optosis; oedema|oedemas|"
        "fluid swelling|; paralysis|paralyses|loss of movement|oplegia; infection|infections|"
        "infectious process|; abscess|abscesses|collection of pus|; cyst|cysts|cystic lesion|; "
        "perforation|perforations|hole|; rupture|ruptures|tear|orrhexis; calculus|calculi|stone|"
        "olithiasis; atrophy|atrophies|wasting|; necrosis|necroses|tissue death|; spasm|spasms|"
        "cramp|ospasm; malformation|malformations|congenital anomaly|",
        courses="acute chronic subacute recurrent transient latent mild severe congenital "
        "acquired traumatic idiopathic secondary primary progressive suspected",
        connective=" due to ",
        agents="virus bacteria toxin parasite fungus pressure exposure deficiency",
    ),
    Branch(
        tag="procedure",
        weight=2,
        site_first=False,
        heads="endoscopy|endoscopies|inspection|oscopy; imaging|images|picture|ography; puncture|"
        "punctures|needling|ocentesis; biopsy|biopsies|sampling|; measurement|measurements|"
        "quantification|ometry; examination|examinations|check|; percussion|percussions|tapping|; "
        "auscultation|auscultations|listening|; culture|cultures|growth test|; staining|stainings|"
        "dye test|; scan|scans|layered picture|ogram; smear|smears|cell sample|; monitoring|"
        "monitorings|observation over days|; tracing|tracings|recorded curve|; screening|"
        "screenings|search for signs|; assay|assays|content test|; palpation|palpations|touch|",
        courses="emergency elective guided repeat routine initial final bedside remote automated "
        "manual rapid delayed contrast dynamic static",
        connective=" using ",
        agents="probe lamp laser catheter needle camera detector scope",
        category=103693007,
    ),
    Branch(
        tag="procedure",
        weight=3,
        site_first=False,
        heads="excision|excisions|removal|ectomy; incision|incisions|cutting|otomy; repair|"
        "repairs|mending|orrhaphy; reshaping|reshapings|plastic operation|oplasty; fixation|"
        "fixations|anchoring|opexy; opening|openings|creation of stoma|ostomy; drainage|drainages|"
        "evacuation|; transplantation|transplantations|grafting|; injection|injections|"
        "needle delivery|; irrigation|irrigations|washout|; massage|massages|manual treatment|; "
        "suture|sutures|stitching|; dilatation|dilatations|widening|; reconstruction|"
        "reconstructions|rebuilding|; ablation|ablations|destruction|; cooling|coolings|"
        "cold treatment|; stimulation|stimulations|pulsed current|; replacement|replacements|"
        "exchange|",
        courses="emergency elective open closed percutaneous partial total repeat palliative "
        "preventive assisted guided staged simple complex revision",
        connective=" using ",
        agents="probe clamp laser catheter needle stapler mesh scope",
        category=277132007,
    ),
    Branch(
        tag="body structure",
        weight=3,
        site_first=False,
        heads="wall|walls|boundary|; surface|surfaces|outer face|; margin|margins|edge|; branch|"
        "branches|offshoot|; lobe|lobes|lobar part|; base|bases|lower end|; apex|apices|tip|; "
        "capsule|capsules|covering|; fold|folds|plica|; recess|recesses|pouch|; membrane|"
        "membranes|thin layer|; duct|ducts|ductal passage|; canal|canals|passage|; fossa|fossae|"
        "hollow|; ridge|ridges|crest|; bundle|bundles|fascicle|; segment|segments|segmental part|"
        "; border|borders|rim|; groove|grooves|sulcus|; cavity|cavities|inner space|",
        courses="entire accessory residual embryonic vestigial mature common minor major "
        "principal adjacent opposite variant double fused mobile",
        connective=" adjoining ",
        agents="nerve artery vein ligament muscle node gland plexus",
    ),
    Branch(
        tag="organism",
        weight=2,
        site_first=True,
        heads=";".join(f"{name}|{name}|species {name}|" for name in _EPITHETS.split()),
        courses="capsulate motile sporing resistant susceptible tropical marine soil avian "
        "bovine canine equine feline porcine aquatic attenuated",
        connective=" isolated from ",
        agents="culture vector reservoir colony host swab biofilm strain",
        category=410607006,
    ),
    Branch(
        tag="substance",
        weight=1,
        site_first=True,
        heads=";".join(f"{name}|{name}s|{name} compound|" for name in _SALTS.split()),
        courses="anhydrous recombinant purified buffered micronised conjugated modified human "
        "bovine synthetic labelled liposomal soluble crude stabilised inactivated",
        connective=" in ",
        agents="solution ointment capsule spray emulsion patch powder suspension",
    ),
)
SIDES = (
    "left right upper lower inner outer medial lateral proximal distal anterior posterior deep "
    "superficial dorsal ventral"
)
DETAILS = "type stage grade class variant phase"
ENDINGS = "us um a on is ea"
BEFORE = (
    '"Brandix" ;"so-called" ;Béranger\'s ;O\'Dellan\'s ;Møllstrauß ;Ångvik-Göttl ;İlgazin ;'
    "Nuñozar's ;Éspérian ;non-A & non-B ;[provisional] ;D'Arvé "
)
AFTER = (
    ' ("hobnail" sign); [provisional]; & oedema; (left > right); δ-form; 5 µm; Σ-variant; β-type;'
    " ΛΟΙΜΟΣ; and/or naevus; à deux; with Ω > 3; \"in situ\"; after 'silent' phase; (two-part)"
)
# Nouns lack their first letter, which is capital at the beginning of a name.
SHORTER = {
    "left ": "L ",
    "right ": "R ",
    " due to ": " d/t ",
    " with ": " c ",
    "Acute ": "Ac ",
    "Chronic ": "Chr ",
    "anterior ": "ant ",
    "posterior ": "post ",
    "isease": "is",
    "xcision": "xc",
    "nflammation": "nfl",
    "easurement": "eas",
    " and ": " + ",
}
ONSETS = (
    "b br c ch cl cr d dr f fl g gl gn gr h j k l m n p ph pl pn pr ps r rh s sc sp sph st str t "
    "th tr v x z"
)
VOWELS = "a e i o u y ae oe au eu ia io"
CODAS = "b c ct d g l ld m mb n nd ng ns p r rb rc rd rm rn rt s st t th v x z lm lp ll rr"

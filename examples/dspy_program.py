"""A DSPy program made robust, offline: first what a question is about, then what kind of answer it asks for.

    python examples/dspy_program.py [FOLDER]

minilm takes the language model's place; for a real one, call dspy.configure(lm=dspy.LM("openai/gpt-5.4-mini")).
"""

import sys
from pathlib import Path
from typing import Literal

import dspy
import psopt
from psopt.models import minilm_lm
from psopt.tasks import subset

Kind = Literal["Number", "Location", "Person", "Description", "Entity", "Abbreviation"]


class Sort(dspy.Module):
    """Two steps: a topic, then a class."""

    def __init__(self) -> None:
        super().__init__()
        self.find_topic = dspy.Predict(dspy.Signature("question -> topic", "Say in a few words what it is about."))
        self.classify = dspy.Predict(
            dspy.Signature(
                {
                    "question": (str, dspy.InputField()),
                    "topic": (str, dspy.InputField()),
                    "kind": (Kind, dspy.OutputField()),
                },
                "Classify the question by the kind of answer that it asks for.",
            )
        )

    def forward(self, question: str) -> dspy.Prediction:
        """Answer one question."""
        topic = self.find_topic(question=question).topic
        return self.classify(question=question, topic=topic)


def main(folder: Path) -> None:
    """Optimize, save, load."""
    task = psopt.load_task("trec")
    train, val, test = (
        [
            dspy.Example(question=sample.text, kind=sample.label).with_inputs("question")
            for sample in subset(samples, 40, seed=1)
        ]
        for samples in (task.train, task.val, task.test)
    )
    with dspy.context(lm=minilm_lm([sample.text for sample in task.train], cache=False)):
        optimizer = psopt.SensitivityOptimizer(num_trials=8, num_rephrasings=4, log_dir=folder / "run")
        better = optimizer.compile(Sort(), trainset=train, valset=val, testset=test)
        for candidate in better.pareto_front:
            val = candidate.val
            print(f"{candidate.id}: F1 {val.f1:.3f}, S {val.sensitivity:.3f}, C {val.consistency:.3f} on val")
        print("S by step:", {step: round(share, 3) for step, share in better.sensitivity_by_step.items()})
        better.save(folder / "better.json")
        again = Sort()
        again.load(folder / "better.json")
        print("When did the war end ?", again(question="When did the war end ?").kind)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("runs/dspy-example"))

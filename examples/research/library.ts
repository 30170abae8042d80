/** What the researchers can look up: a few notes about cargo bikes, each under an id. */

/** One note. */
export interface Note {
  readonly id: string;
  readonly topic: string;
  readonly text: string;
}

/** All notes. */
export const NOTES: readonly Note[] = [
  { id: 'N1', topic: 'costs', text: 'A cargo bike costs 6,200 EUR and 480 EUR a year to keep.' },
  { id: 'N2', topic: 'costs', text: 'The van costs 7,900 EUR a year, fuel and parking included.' },
  { id: 'N3', topic: 'customers', text: '71 of 90 customers live within 4 km of the bakery.' },
  { id: 'N4', topic: 'customers', text: 'Cafes want their bread before 6:30, shops before 8:00.' },
  { id: 'N5', topic: 'rules', text: 'Bikes up to 250 kg may use bus lanes and need no licence.' },
  { id: 'N6', topic: 'rules', text: 'From next year on vans pay 12 EUR a day in the centre.' },
];

/** The notes that have one of the words of `query` in their topic or text. */
export function findNotes(query: string): readonly Note[] {
  const words = query
    .toLowerCase()
    .split(/\W+/)
    .filter((word) => word.length > 2);
  return NOTES.filter(({ topic, text }) => {
    const whole = `${topic} ${text}`.toLowerCase();
    return words.some((word) => whole.includes(word));
  });
}

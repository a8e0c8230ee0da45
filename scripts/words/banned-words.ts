/** Words that no declared name contains, each with the standard term. A name is split at its capitals and underscores. */
export const BANNED_WORDS: Readonly<Record<string, string>> = {
  place: 'path, index, nonce, or route',
  placed: 'path, index, nonce, or route',
  lapse: 'expire',
  lapsed: 'expired',
  lapses: 'expires',
  held: 'leased',
  judge: 'resolve, evaluate, or check',
  judged: 'resolved, evaluated, or checked',
  verdict: 'resolution, outcome, or result',
  foreign: 'externally signed',
  seat: 'slot, or signing context',
  seats: 'slots',
  errand: 'setup transaction',
  patient: 'health target',
  patience: 'timeout, or delay',
  fleet: 'relayer registry',
  formation: 'relayer registry',
  squad: 'endpoint group',
  poster: 'HTTP client',
  passage: 'request context',
  doubles: 'duplicates',
  ears: 'subscriptions',
  ground: 'state, or environment',
  steering: 'delivery controls',
  survey: 'probe',
  asker: 'executor',
  visits: 'iterator',
  trouble: 'error, or fault',
  room: 'module, or fixture',
  outlay: 'amount out',
  intent: 'purpose',
  stranger: 'unauthenticated caller, or third party',
}

/** Words that no comment and no message contains, each with what people write instead. */
export const BANNED_PROSE: Readonly<Record<string, string>> = {
  anew: 'again',
}

/** Names that contain a banned word in its ordinary sense. */
export const ALLOWED_NAMES: ReadonlySet<string> = new Set([])

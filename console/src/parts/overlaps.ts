/** How long a secret is still accepted after it was rotated, in seconds, with the words for it. The first one is the default of the API. */
export const OVERLAPS = [
  ['86400', 'for a day'],
  ['3600', 'for an hour'],
  ['604800', 'for a week'],
  ['0', 'not any more, because it leaked'],
] as const

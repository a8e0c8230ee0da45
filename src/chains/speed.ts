/** The urgency of a request. */
export type Speed = 'fastest' | 'fast' | 'average' | 'safeLow'

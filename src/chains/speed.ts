/** How urgently a request wants to be included. */
export type Speed = 'fastest' | 'fast' | 'average' | 'safeLow'

/** The configuration of a signer with this key, written as its chain writes keys. */
export function plainSigner(id: string, value: string) {
  return { id, type: 'plain', config: { key: { type: 'plain', value } } }
}

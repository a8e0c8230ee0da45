import { type FieldType, type Reader, whole } from '../lib/fields.ts'
import { NETWORK_FAMILIES } from './families/families.ts'
import type { NetworkFamily } from './families/family.ts'
import type { NamedAsset, Network, NetworkType, Token } from './network.ts'

/**
 * Returns what an asset is called, by its name in rules and budgets; undefined for an asset that neither the
 * network nor the operator names.
 */
export type AssetNames = (asset: string) => NamedAsset | undefined

/**
 * Names the native currency as the network does, and tokens as the operator does. What a contract says about
 * itself names it in no answer, because anyone can deploy a token with the name of another.
 */
export function assetNamesOf(network: Network): AssetNames {
  const family: NetworkFamily = NETWORK_FAMILIES[network.type]
  const native = family.native(network)
  const tokens = new Map(network.tokens?.map(({ address, ...named }) => [address, named]))
  return (asset) => (asset === 'native' ? native : tokens.get(asset))
}

const symbol: FieldType<string> = {
  expected: '1 to 20 visible ASCII characters',
  read: (value) => (typeof value === 'string' && /^[!-~]{1,20}$/.test(value) ? value : undefined),
  blank: '',
}

/** A token has one byte for its decimals (ERC-20 `decimals`, SPL `Mint`). */
const decimals = whole(0, 255)

/** Reads the list `tokens` of a network. */
export function readTokens(network: Reader, type: NetworkType): Token[] {
  const known = new Set<string>()
  return (network.objects('tokens') ?? []).map((reader) => {
    const token = {
      address: reader.get('address', NETWORK_FAMILIES[type].token),
      symbol: reader.get('symbol', symbol),
      decimals: reader.get('decimals', decimals),
    }
    reader.finish()
    if (token.address !== '' && known.has(token.address))
      reader.problem('is that of another token of the list', 'address')
    known.add(token.address)
    return token
  })
}

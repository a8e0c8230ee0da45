import { address, type FieldType, publicKey, type Reader, whole } from '../lib/fields.ts'
import type { NamedAsset, Network, NetworkType, Token } from './network.ts'

/** The native currency of each type; an EVM network has a symbol of its own. */
const NATIVE: Readonly<Record<NetworkType, NamedAsset>> = {
  evm: { symbol: 'ETH', decimals: 18 },
  stellar: { symbol: 'XLM', decimals: 7 },
  solana: { symbol: 'SOL', decimals: 9 },
}

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
  const native = network.type === 'evm' ? { ...NATIVE.evm, symbol: network.symbol } : NATIVE[network.type]
  const tokens = new Map(network.tokens?.map(({ address, ...named }) => [address, named]))
  return (asset) => (asset === 'native' ? native : tokens.get(asset))
}

/** The names of tokens by type. EVM: in lower case, whose checksum was checked before. */
const ADDRESSES: Readonly<Record<NetworkType, FieldType<string>>> = {
  evm: { ...address, read: (value) => address.read(value)?.toLowerCase() },
  stellar: {
    expected: 'CODE:ISSUER, or the address of a contract',
    read: (value) => (typeof value === 'string' && STELLAR_TOKEN.test(value) ? value : undefined),
    blank: '',
  },
  solana: publicKey,
}

const STELLAR_TOKEN = /^([A-Za-z0-9]{1,12}:G[A-Z2-7]{55}|C[A-Z2-7]{55})$/

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
      address: reader.get('address', ADDRESSES[type]),
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

import { NETWORK_TYPES, type NetworkType } from '../networks/network.ts'
import { signersOf } from './channels.ts'
import type { Relayer, RelayerConfig } from './relayer.ts'
import type { FindKey } from './source-accounts.ts'

/** A key that relayers on networks of several types use as it is. */
export interface SharedKey {
  readonly signers: readonly string[]
  readonly relayers: readonly string[]
  readonly networkTypes: readonly NetworkType[]
}

interface KeyUse {
  readonly signer: string
  readonly relayer: string
  readonly networkType: NetworkType
}

/**
 * Finds the keys that serve several network types without a derivation for each. The public key identifies a key, because two signers can
 * have the same one. `findKey` returns undefined for a signer whose key is missing.
 */
export async function findSharedKeys(
  relayers: readonly RelayerConfig[],
  findKey: FindKey,
): Promise<SharedKey[]> {
  // Nothing can be shared then, and the uses of thousands of relayers would take memory at the start.
  if (relayers.every(({ networkType }) => networkType === relayers[0]?.networkType)) return []
  const uses = new Map<string, KeyUse[]>()
  const found = await Promise.all(
    relayers.flatMap(usesOf).map(async (use) => ({ use, key: await findKey(use.signer) })),
  )
  for (const { use, key } of found) {
    // A local key that is shared has both curves; the key of a service that has one curve is shared by the networks of that curve.
    const publicKey = (key?.evm ?? key?.stellar)?.publicKey
    if (!key?.isShared || publicKey === undefined) continue
    const identity = Buffer.from(publicKey).toString('hex')
    uses.set(identity, [...(uses.get(identity) ?? []), use])
  }
  return [...uses.values()].map(toSharedKey).filter(({ networkTypes }) => networkTypes.length > 1)
}

/** An account of which relayers on several EVM networks have the key. */
interface SharedAccount {
  readonly address: string
  readonly relayers: readonly string[]
  readonly networks: readonly string[]
}

/** Finds the accounts that relayers on several EVM networks operate. An address is that of a key, on every network. */
export function findSharedAccounts(relayers: readonly Relayer[]): SharedAccount[] {
  const onEvm = relayers.filter(({ networkType }) => networkType === 'evm')
  return [...Map.groupBy(onEvm, ({ address }) => address)]
    .map(([address, users]) => ({
      address,
      relayers: users.map(({ id }) => id).sort(),
      networks: [...new Set(users.map(({ network }) => network))].sort(),
    }))
    .filter(({ networks }) => networks.length > 1)
}

function usesOf(relayer: RelayerConfig): KeyUse[] {
  return signersOf(relayer).map((signer) => ({
    signer,
    relayer: relayer.id,
    networkType: relayer.networkType,
  }))
}

function toSharedKey(uses: readonly KeyUse[]): SharedKey {
  const types = new Set(uses.map(({ networkType }) => networkType))
  return {
    signers: [...new Set(uses.map(({ signer }) => signer))],
    relayers: [...new Set(uses.map(({ relayer }) => relayer))],
    networkTypes: NETWORK_TYPES.filter((type) => types.has(type)),
  }
}

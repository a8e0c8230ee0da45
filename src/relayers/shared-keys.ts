import type { Logger } from 'pino'
import type { Db } from '../database/db.ts'
import { NETWORK_TYPES, type NetworkType } from '../networks/network.ts'
import type { Keyring } from '../signers/keyring.ts'
import type { FindKey } from './accounts/source-accounts.ts'
import { type Relayer, type RelayerConfig, signersOf } from './relayer.ts'
import { allRelayers, relayersOfKey } from './store.ts'

/** A key that relayers on networks of several types use as it is. */
interface SharedKey {
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
 * Finds the keys that serve several network types without a derivation for each. The public key identifies a
 * key, because two signers can have the same one. `findKey` returns undefined for a signer whose key is
 * missing.
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
    // A local key that is shared has both curves; the key of a service that has one curve is shared by the
    // networks of that curve.
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

/**
 * Finds the accounts that relayers on several EVM networks operate. An address is that of a key, on every
 * network.
 */
function findSharedAccounts(relayers: readonly Relayer[]): SharedAccount[] {
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

interface ReportDeps {
  readonly db: Db
  readonly keyring: Keyring
  readonly log: Logger
}

/**
 * Logs a warning for each key that serves several network types as it is: only the rules of each operation
 * keep its signatures apart. And one for each account on several EVM networks: a signature that names no
 * chain is good on all of them.
 */
export async function reportSharedKeys(deps: ReportDeps): Promise<void> {
  await report(deps, await allRelayers(deps.db))
}

/**
 * Logs the same about the key of one relayer, which is new. It never rejects, because the relayer is there.
 */
export async function reportKeyOf(deps: ReportDeps, relayer: Relayer): Promise<void> {
  try {
    await report(deps, await relayersOfKey(deps.db, relayer))
  } catch (error) {
    deps.log.error({ err: error, relayer: relayer.id }, 'search for shared keys failed')
  }
}

async function report({ keyring, log }: ReportDeps, relayers: readonly Relayer[]): Promise<void> {
  for (const sharedKey of await findSharedKeys(relayers, keyring.find))
    log.warn(sharedKey, 'key shared by network types; use a separate signer for each network type')
  for (const sharedAccount of findSharedAccounts(relayers))
    log.warn(sharedAccount, 'account shared by EVM networks; use a separate signer for each network')
}

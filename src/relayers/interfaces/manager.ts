import type { Actor } from '../../access/principal.ts'
import { appendManagement } from '../../audit/append-store.ts'
import type { Db, Tx } from '../../database/db.ts'
import { transact } from '../../database/locks/transact.ts'
import { AppError, relayerNotFound } from '../../errors.ts'
import { lockRelayer } from '../store.ts'
import {
  auditedInterface,
  type ContractInterface,
  countInterfaces,
  deleteInterface,
  findInterface,
  type InterfaceContent,
  type InterfaceKey,
  saveInterface,
} from './interfaces-store.ts'

/** The most contracts of one relayer that have an interface: together they can have 50 MiB. */
const MAX_INTERFACES = 200

/** The largest interface, in bytes of JSON. A request reads all functions of one. */
const MAX_BYTES = 262_144

/** The verbs of callers on the interfaces of contracts. Each is atomic, and is recorded in the audit log. */
export interface InterfaceManager {
  /**
   * Registers an interface, in place of the one that the contract has.
   * @throws AppError 404 `relayer_not_found`; `invalid_request` for too large an interface, or too many
   */
  register(key: InterfaceKey, content: InterfaceContent, actor: Actor): Promise<ContractInterface>
  /** @throws AppError 404 `relayer_not_found`, `abi_not_found` */
  delete(key: InterfaceKey, actor: Actor): Promise<void>
}

/** Creates the manager of the interfaces of this database. */
export function createInterfaceManager(db: Db): InterfaceManager {
  return {
    register: async (key, content, actor) => {
      requireFitting(content)
      return transact(db, (tx) => register(tx, { key, content, actor }))
    },
    delete: (key, actor) => transact(db, (tx) => remove(tx, key, actor)),
  }
}

/** Makes the failure for a contract without an interface. */
export function noInterface({ relayerId, address }: InterfaceKey): AppError {
  return new AppError('abi_not_found', `Relayer ${relayerId} has no ABI for ${address}.`)
}

interface Registration {
  readonly key: InterfaceKey
  readonly content: InterfaceContent
  readonly actor: Actor
}

async function register(tx: Tx, { key, content, actor }: Registration): Promise<ContractInterface> {
  await requireLocked(tx, key.relayerId)
  const before = await findInterface(tx, key)
  if (before === undefined && (await countInterfaces(tx, key.relayerId)) >= MAX_INTERFACES)
    throw new AppError(
      'invalid_request',
      `path.address: relayer ${key.relayerId} has ${MAX_INTERFACES} ABIs, the maximum; delete one first.`,
    )
  await saveInterface(tx, key, { ...content, registeredBy: actor.keyId })
  const saved = await findInterface(tx, key)
  if (saved === undefined) throw new Error(`the interface of ${key.address} is gone under the lock`)
  await appendManagement(tx, {
    author: actor,
    action: 'registerAbi',
    target: { type: 'relayer', id: key.relayerId },
    before: before && auditedInterface(before),
    after: auditedInterface(saved),
  })
  return saved
}

async function remove(tx: Tx, key: InterfaceKey, actor: Actor): Promise<void> {
  await requireLocked(tx, key.relayerId)
  const present = await findInterface(tx, key)
  if (present === undefined) throw noInterface(key)
  await deleteInterface(tx, key)
  const before = auditedInterface(present)
  const target = { type: 'relayer', id: key.relayerId } as const
  await appendManagement(tx, { author: actor, action: 'deleteAbi', target, before })
}

/** Its removal and other registrations wait until the commit, so the number of interfaces stays true. */
async function requireLocked(tx: Tx, relayerId: string): Promise<void> {
  if (await lockRelayer(tx, relayerId, 'update')) return
  throw relayerNotFound(relayerId)
}

function requireFitting({ document }: InterfaceContent): void {
  const bytes = Buffer.byteLength(JSON.stringify(document))
  if (bytes <= MAX_BYTES) return
  throw new AppError(
    'invalid_request',
    `body.abi: expected at most ${MAX_BYTES} bytes of JSON, not ${bytes}; omit the items that are not needed.`,
  )
}

import type { World } from '../shared/host.ts'
import { decodeTransaction } from '../shared/solana-transaction.ts'
import type { Settings } from './config.ts'
import { KoraError } from './errors.ts'
import { readSponsor, type Sponsor } from './sponsor.ts'

/** What this process knows of the relayers' addresses, by their ids. */
const addresses = new Map<string, string>()

/** The next turn of `round_robin` in this process. */
let turn = 0

/** Lists the ids of the pool, the next fee payer first; the others take its place where it cannot pay. */
export function inOrder({ pool, strategy }: Pick<Settings, 'pool' | 'strategy'>, random: number): string[] {
  const first = strategy === 'round_robin' ? takeTurn(pool.length) : drawn(pool, strategy, random)
  return [...pool.slice(first), ...pool.slice(0, first)].map(({ id }) => id)
}

function takeTurn(length: number): number {
  const now = turn
  // One relayer alone takes no turns.
  if (length > 1) turn += 1
  return now % length
}

function drawn(pool: Settings['pool'], strategy: Settings['strategy'], random: number): number {
  const weights = pool.map(({ weight }) => (strategy === 'weighted' ? weight : 1))
  let left = random * weights.reduce((sum, weight) => sum + weight, 0)
  for (const [index, weight] of weights.entries()) {
    left -= weight
    if (left < 0) return index
  }
  return 0
}

async function read(world: World, settings: Settings, id: string): Promise<Sponsor> {
  const sponsor = await readSponsor(world, settings, id)
  addresses.set(id, sponsor.address)
  return sponsor
}

/** Reads the relayers of the pool, in the order of the configuration. */
export function readPool(world: World, settings: Settings): Promise<readonly Sponsor[]> {
  return Promise.all(settings.pool.map(({ id }) => read(world, settings, id)))
}

/** Reads the next fee payer, by the strategy of the pool; relayers that are paused or disabled are left out. */
export async function nextSponsor(world: World, settings: Settings): Promise<Sponsor> {
  const [first = '', ...others] = inOrder(settings, Math.random())
  const sponsor = await read(world, settings, first)
  if (sponsor.isActive) return sponsor
  for (const id of others) {
    const other = await read(world, settings, id)
    if (other.isActive) return other
  }
  return sponsor
}

/** Finds the relayer with an address. @throws the error of `refuse`, which is told the addresses of the pool */
export async function sponsorAt(
  world: World,
  settings: Settings,
  { address, refuse }: { readonly address: unknown; refuse(payers: string): KoraError },
): Promise<Sponsor> {
  const known = settings.pool.find(({ id }) => addresses.get(id) === address)
  const sponsor = known && (await read(world, settings, known.id))
  if (sponsor !== undefined && sponsor.address === address) return sponsor
  const all = await readPool(world, settings)
  const found = all.find((one) => one.address === address)
  if (found !== undefined) return found
  throw refuse(all.map((one) => one.address).join(' or '))
}

/** Finds the relayer that pays for a transaction, whose fee payer names it. @throws KoraError */
export async function payerOf(world: World, settings: Settings, transaction: unknown): Promise<Sponsor> {
  const decoded = decodeTransaction(transaction)
  if (decoded === undefined)
    throw new KoraError(
      'InvalidTransaction',
      'transaction: expected a transaction in base64, legacy or version 0.',
    )
  const [address] = decoded.accounts
  return sponsorAt(world, settings, {
    address,
    refuse: (payers) =>
      new KoraError('ValidationError', `The fee payer must be ${payers}, and is ${address}.`),
  })
}

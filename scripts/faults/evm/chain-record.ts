import type { Anvil } from '../../../test/support/anvil.ts'
import type { Transaction } from '../../../test/support/service.ts'
import { describe, type Evidence } from '../check-promises.ts'
import type { TestBed } from '../test-bed.ts'
import type { ChainRecord, Included } from '../test-chain.ts'
import { addressesOf } from './accounts.ts'
import { type EvmIncluded, headOf, usedNonces, waitingNonces, walkChain } from './chain-walk.ts'
import { DEEPEST } from './deep-reorg.ts'
import type { Environment } from './environment.ts'
import { miscounted, untold, usageOf } from './reorg-watch.ts'

/** What anvil can tell of the time from now on. */
export async function evmChainRecord(
  { anvil, accounts, fees, reorganisations }: Environment,
  testBed: TestBed,
): Promise<ChainRecord> {
  // The newest blocks are empty, and a deep reorganisation may put something else in their place.
  const height = (await headOf(anvil)) - (reorganisations ? DEEPEST : 0)
  const before = await Promise.all(
    accounts.map((account) => Promise.all(addressesOf(account).map((address) => usedNonces(anvil, address)))),
  )
  const usages = () => Promise.all(accounts.map((_, account) => usageOf(testBed, account)))
  const usedBefore = reorganisations && (await usages())
  let shown: ReadonlyMap<string, EvmIncluded> = new Map()
  return {
    walk: async () => {
      const chain = await walkChain(anvil, height)
      shown = new Map(chain.map((one) => [one.hash, one]))
      return accounts.map((account) => {
        const addresses = addressesOf(account)
        return chain.filter(({ sourceAccount }) => addresses.includes(sourceAccount))
      })
    },
    differences: (record, one) => differences(record, one, shown.get(one.hash)?.value),
    problems: async (evidence) => {
      const usedAfter = usedBefore && (await usages())
      const all = await Promise.all(
        evidence.map(async (one) => {
          const account = accounts[one.account]
          const owners = (account ? addressesOf(account) : []).map((address, index) => ({
            address,
            before: before[one.account]?.[index] ?? 0,
          }))
          const gaps = await Promise.all(owners.map((owner) => noGap(anvil, one, owner)))
          const ofFees = (await fees?.watch.problems(anvil, one)) ?? []
          const [earlier, now] = [usedBefore?.[one.account], usedAfter?.[one.account]]
          const ofBudgets =
            earlier && now ? await miscounted(anvil, one, { before: earlier, after: now, chain: shown }) : []
          return [...gaps.flat(), ...ofFees, ...ofBudgets]
        }),
      )
      return [...all.flat(), ...(reorganisations ? await untold(reorganisations, testBed) : [])]
    },
  }
}

function differences(record: Transaction, shown: Included, value: bigint | undefined): string[] {
  const problems: string[] = []
  if (shown.nonce !== BigInt(record.nonce ?? -1)) problems.push(`is in the chain with nonce ${shown.nonce}`)
  if (shown.mark !== record.to?.toLowerCase() || value !== BigInt(record.value ?? 0)) {
    problems.push(`is in the chain with ${value} to ${shown.mark}`)
  }
  return problems
}

/** Every nonce is used, nothing waits in the pool, and nothing could be included later. */
async function noGap(
  anvil: Anvil,
  { records, included }: Evidence,
  { address, before }: { readonly address: string; readonly before: number },
): Promise<string[]> {
  const after = await usedNonces(anvil, address)
  const waiting = await waitingNonces(anvil, address)
  const wanted = Array.from({ length: after - before }, (_, index) => before + index)
  const used = included.filter(({ sourceAccount }) => sourceAccount === address).map(({ nonce }) => nonce)
  const problems: string[] = []
  if (used.join() !== wanted.join())
    problems.push(`the chain used nonces ${used.join()} and counts to ${after}`)
  if (waiting.length > 0)
    problems.push(`nonces ${waiting.join()} still wait in the pool; the chain is at ${after}`)
  for (const record of records.filter(({ from }) => from.toLowerCase() === address)) {
    const ahead = record.attempts.filter(({ nonce }) => Number(nonce) >= after)
    if (ahead.length > 0) {
      problems.push(`${record.id} can still be executed (the chain is at ${after}): ${describe(record)}`)
    }
  }
  return problems
}

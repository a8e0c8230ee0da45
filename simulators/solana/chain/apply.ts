import type { Address } from '@solana/kit'
import { type AccountState, isSameAccount } from '../runtime/account.ts'
import { isAboutPayer, isFeesOnly } from '../runtime/errors.ts'
import { feeOf } from '../runtime/fees.ts'
import { lockProblem, sanitizeProblem } from '../runtime/sanitize.ts'
import { tokenBalances } from '../runtime/token.ts'
import type { Moment, Vm } from '../runtime/vm.ts'
import type { AccountHistory } from './accounts.ts'
import type { Lifetime } from './age.ts'
import type { AppliedTransaction, Balances } from './block.ts'
import type { Rules } from './chain.ts'
import { loadAddresses, writableKeys } from './lookup-tables.ts'
import { durableNonceOf, withNonce } from './nonce.ts'
import type { Pending } from './pool.ts'

/** The state to which transactions are applied. */
export interface Environment {
  readonly vm: Vm
  readonly accounts: AccountHistory
  readonly rules: Pick<Rules, 'accountLocks' | 'noOps'>
}

interface Charge {
  readonly payer: Address
  /** The state of the payer before the transaction. */
  readonly before: AccountState | undefined
  readonly fee: bigint
  readonly feesOnly: boolean
}

/**
 * Runs the transaction in the block of this moment and keeps what it did. Nothing when a leader cannot put it into a block:
 * no one pays for it, and it leaves no trace.
 */
export function applyTransaction(
  { vm, accounts, rules }: Environment,
  moment: Moment,
  { transaction, retried }: Pending,
  lifetime: Lifetime,
): AppliedTransaction | undefined {
  const { message, signature } = transaction
  const loaded = loadAddresses(message, vm.account)
  const keys = [...message.keys, ...loaded.writable, ...loaded.readonly]
  if (lockProblem(keys, rules.accountLocks) !== undefined || sanitizeProblem(message) !== undefined)
    return undefined
  const before = new Map(keys.map((key) => [key, vm.account(key)]))
  const fee = feeOf(message)
  const { err, meta } = vm.execute(transaction)
  if (err !== null) {
    const payer = message.keys[0]
    if (!payer || !isCharged(vm, { payer, before: before.get(payer), fee, feesOnly: isFeesOnly(err) })) {
      const mayStay = rules.noOps === 'nonces' || (rules.noOps === 'fee_payers' && lifetime === 'blockhash')
      if (!mayStay || !isAboutPayer(err)) return undefined
      const unchanged = balancesOf(keys, before, vm)
      const noOp = { fee: 0n, before: unchanged, after: unchanged, mayComeAgain: lifetime !== 'blockhash' }
      return { signature, slot: moment.slot, transaction, keys, loaded, err, meta, retried, ...noOp }
    }
    if (lifetime !== 'blockhash') useUp(vm, lifetime.nonce, moment)
  }
  const after = new Map(before)
  for (const key of writableKeys(message, loaded)) {
    const change = { before: before.get(key), after: vm.account(key) }
    after.set(key, change.after)
    if (!isSameAccount(change.before, change.after)) accounts.record(key, moment.slot, change)
  }
  const balances = { before: balancesOf(keys, before, vm), after: balancesOf(keys, after, vm) }
  checkConserved(balances, fee)
  return { signature, slot: moment.slot, transaction, keys, loaded, err, fee, meta, retried, ...balances }
}

function balancesOf(
  keys: readonly Address[],
  states: ReadonlyMap<Address, AccountState | undefined>,
  vm: Vm,
): Balances {
  return {
    lamports: keys.map((key) => states.get(key)?.lamports ?? 0n),
    tokens: tokenBalances(keys, (key) => (states.has(key) ? states.get(key) : vm.account(key))),
  }
}

/**
 * Returns true if the payer of a failed transaction pays. litesvm charges transactions that fail while they run and, unlike the network,
 * not those that fail while their accounts are loaded: this function adds that charge.
 */
function isCharged(vm: Vm, { payer, before, fee, feesOnly }: Charge): boolean {
  const paid = (before?.lamports ?? 0n) - (vm.account(payer)?.lamports ?? 0n)
  if (paid === 0n && feesOnly && before !== undefined) {
    vm.set(payer, { ...before, lamports: before.lamports - fee })
    return true
  }
  return paid > 0n
}

/** No lamports appear or vanish but the fee: what is not so is a fault of this node, and every test should end by it. */
function checkConserved({ before, after }: { before: Balances; after: Balances }, fee: bigint): void {
  const sum = ({ lamports }: Balances) => lamports.reduce((total, each) => total + each, 0n)
  const gone = sum(before) - sum(after)
  if (gone !== fee)
    throw new Error(`a transaction took ${gone} lamports out of its accounts where its fee is ${fee}`)
}

/** A durable nonce is used up by a transaction that failed, too (agave svm/src/rollback_accounts.rs). */
function useUp(vm: Vm, address: Address, { parentBlockhash }: Moment): void {
  const account = vm.account(address)
  if (account !== undefined) vm.set(address, withNonce(account, durableNonceOf(parentBlockhash)))
}

import { Address, extractBaseAddress, nativeToScVal, StrKey, scValToBigInt, xdr } from '@stellar/stellar-sdk'
import type { Network } from '../network.ts'
import { type AccountEntry, availableBalance, INT64_MAX } from '../state/entries.ts'
import { accountLedgerKey } from '../state/entry-xdr.ts'
import { type Env, type Program, Trap } from './contracts.ts'
import type { Storage } from './storage.ts'

/** The contract of the native asset, as far as people use it: it moves the very balances that payments move (CAP-46-06). */
export function createAssetProgram(storage: Storage, network: Network): Program {
  return {
    balance: (env, id) => toI128(balanceOf(env, storage, toAddress(id))),
    decimals: () => xdr.ScVal.scvU32(7),
    name: () => xdr.ScVal.scvString('native'),
    symbol: () => xdr.ScVal.scvString('native'),
    transfer(env, from, to, amount) {
      const [sender, receiver, stroops] = [toAddress(from), toAddress(to), toAmount(amount)]
      env.requireAuth(sender)
      move(env, storage, network, sender, -stroops)
      move(env, storage, network, receiver, stroops)
      const topics = [xdr.ScVal.scvSymbol('transfer'), Address.fromString(sender).toScVal()]
      env.emit(
        [...topics, Address.fromString(receiver).toScVal(), xdr.ScVal.scvString('native')],
        toI128(stroops),
      )
      return undefined
    },
  }
}

function balanceOf(env: Env, storage: Storage, address: string): bigint {
  if (StrKey.isValidContract(address)) return contractBalance(env, address)
  const account = readAccount(storage, address)
  if (!account) throw refusal('account is missing')
  return account.balance
}

function move(env: Env, storage: Storage, network: Network, address: string, by: bigint): void {
  if (StrKey.isValidContract(address)) {
    moveContract(env, address, by)
    return
  }
  const account = readAccount(storage, address)
  if (!account) throw refusal('account is missing')
  if (by < 0n && availableBalance(account, network.baseReserve) + by < 0n) {
    throw refusal('balance is not sufficient to spend')
  }
  if (account.balance + by > INT64_MAX) throw refusal('balance is too large')
  storage.write({ ...account, balance: account.balance + by }, accountLedgerKey(address))
}

function moveContract(env: Env, address: string, by: bigint): void {
  const balance = contractBalance(env, address) + by
  if (balance < 0n) throw refusal('balance is not sufficient to spend')
  const fields = [
    ['amount', toI128(balance)],
    ['authorized', xdr.ScVal.scvBool(true)],
    ['clawback', xdr.ScVal.scvBool(false)],
  ] as const
  const map = fields.map(([name, val]) => new xdr.ScMapEntry({ key: xdr.ScVal.scvSymbol(name), val }))
  env.set(balanceKey(address), xdr.ScVal.scvMap(map))
}

function contractBalance(env: Env, address: string): bigint {
  const value = env.get(balanceKey(address))
  const amount = value?.type === 'scvMap' ? value.map?.[0]?.val : undefined
  return amount ? scValToBigInt(amount) : 0n
}

function balanceKey(address: string): xdr.ScVal {
  return xdr.ScVal.scvVec([xdr.ScVal.scvSymbol('Balance'), Address.fromString(address).toScVal()])
}

function readAccount(storage: Storage, address: string): AccountEntry | undefined {
  const entry = storage.read(accountLedgerKey(address))
  return entry?.kind === 'account' ? entry : undefined
}

/** G… or C…; who is muxed (M…, CAP-67) is meant by the account behind it. */
function toAddress(value: xdr.ScVal | undefined): string {
  if (value?.type !== 'scvAddress') throw refusal('an address is missing')
  const address = Address.fromScVal(value).toString()
  return address.startsWith('M') ? extractBaseAddress(address) : address
}

function toAmount(value: xdr.ScVal | undefined): bigint {
  if (value?.type !== 'scvI128') throw refusal('an amount is missing')
  const amount = scValToBigInt(value)
  if (amount < 0n) throw refusal('negative amount is not allowed')
  return amount
}

function toI128(value: bigint): xdr.ScVal {
  return nativeToScVal(value, { type: 'i128' })
}

function refusal(message: string): Trap {
  return new Trap(`HostError: Error(Contract, InvalidAction): ${message}`)
}

import { randomBytes } from 'node:crypto'
import { Address, xdr } from '@stellar/stellar-sdk'
import { contractKey } from '../entries.ts'
import type { Ledger } from '../ledger.ts'
import type { Program } from './contracts.ts'
import { codeEntry, contractAddress, instanceEntry, sha256 } from './keys.ts'
import { MIN_PERSISTENT_LEDGERS } from './storage.ts'

/** Creates a contract that behaves like `program`, without a transaction; returns its address. The code only identifies it. */
export function deploy(ledger: Ledger, program: Program, wasm: Uint8Array = randomBytes(32)): string {
  const contract = Address.contract(randomBytes(32)).toString()
  ledger.programs.set(sha256(wasm), program)
  const executable = xdr.ContractExecutable.contractExecutableWasm(sha256(wasm))
  const liveUntil = endOfLife(ledger)
  ledger.amend((changes) => {
    changes.set(codeEntry(wasm, liveUntil))
    changes.set(instanceEntry(contract, executable, liveUntil))
  })
  return contract
}

/** Makes the contract of the native asset (CAP-46-06), as every network has it; gives its address. */
export function deployNative(ledger: Ledger): string {
  const preimage = xdr.ContractIdPreimage.contractIdPreimageFromAsset(xdr.Asset.assetTypeNative())
  const contract = contractAddress(preimage, ledger.network)
  const executable = xdr.ContractExecutable.contractExecutableStellarAsset()
  ledger.amend((changes) => changes.set(instanceEntry(contract, executable, endOfLife(ledger))))
  return contract
}

/** Ends the life of an entry with the ledger before the last, so that it is archived in the last one. Throws when there is none. */
export function archive(ledger: Ledger, key: xdr.LedgerKey): void {
  ledger.amend((changes) => {
    const entry = changes.get(contractKey(key.toXdr('base64')))
    if (entry?.kind !== 'contract') throw new Error('There is no such contract entry.')
    changes.set({ ...entry, liveUntil: ledger.chain.latest().sequence - 1 })
  })
}

function endOfLife({ chain }: Ledger): number {
  return chain.latest().sequence + MIN_PERSISTENT_LEDGERS - 1
}

import { CallProblem } from '../../call/problem.ts'
import { MAX_TRANSACTION_BYTES } from '../wire/transaction.ts'

/** Collects the bytes of an instruction's data. */
export interface ByteWriter {
  /** @throws CallProblem with the path, when the bytes exceed a transaction */
  write(bytes: Uint8Array, path: string): void
  bytes(): Buffer
}

/** Creates a writer that stops at the size of a transaction, because a small request can describe a large value. */
export function createByteWriter(): ByteWriter {
  const parts: Uint8Array[] = []
  let size = 0
  return {
    write: (bytes, path) => {
      size += bytes.length
      if (size > MAX_TRANSACTION_BYTES)
        throw new CallProblem(path, `expected at most ${MAX_TRANSACTION_BYTES} bytes of data up to here`)
      parts.push(bytes)
    },
    bytes: () => Buffer.concat(parts),
  }
}

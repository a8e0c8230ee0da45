import { v7 } from 'uuid'

/**
 * Makes the id of a new transaction: a UUID of version 7 (RFC 9562), which begins with the time in ms. Ids of the same time are neighbours
 * in every index that begins with one. Random ids would spread them over the whole index, whose pages do not stay in the memory of the
 * database when the table grows: each commit would read and log more of them.
 */
export function newTransactionId(): string {
  return v7()
}

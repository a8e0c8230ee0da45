/** The column that orders a table, and the direction. */
export interface Order {
  readonly by: string
  readonly isDescending: boolean
}

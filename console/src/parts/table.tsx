import type { ComponentChildren } from 'preact'
import type { Order } from './order.ts'

/** One column of a table. */
export interface Column<Row> {
  readonly name: string
  readonly cell: (row: Row) => ComponentChildren
  readonly isNumber?: boolean
  /** Left out on a narrow screen: the page of the row has it, too. */
  readonly isExtra?: boolean
}

interface TableProps<Row> {
  /** Says what the rows are; shown to screen readers. */
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  /** Shown in place of the rows when there are none. */
  readonly empty: string
  /** The names of columns become buttons that order the rows. */
  readonly order?: Order
  readonly onOrder?: (order: Order) => void
}

/** Shows rows. What is too wide for the screen scrolls inside of its own frame. */
export function Table<Row>({ caption, columns, rows, keyOf, empty, order, onOrder }: TableProps<Row>) {
  if (rows.length === 0) return <p class="muted empty">{empty}</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable with the keyboard.
    <section class="table-frame" aria-label={caption} tabIndex={0}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.name}
                scope="col"
                class={classOf(column)}
                {...(order?.by === column.name && {
                  'aria-sort': order.isDescending ? 'descending' : 'ascending',
                })}
              >
                {onOrder === undefined ? (
                  column.name
                ) : (
                  <OrderButton name={column.name} order={order} onOrder={onOrder} />
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <td key={column.name} class={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function classOf<Row>({ isNumber = false, isExtra = false }: Column<Row>): string {
  return `${isNumber ? 'number' : ''} ${isExtra ? 'extra' : ''}`
}

interface OrderButtonProps {
  readonly name: string
  readonly order: Order | undefined
  readonly onOrder: (order: Order) => void
}

function OrderButton({ name, order, onOrder }: OrderButtonProps) {
  const isOwn = order?.by === name
  const arrow = order?.isDescending ? '▾' : '▴'
  return (
    <button
      type="button"
      class="bare"
      onClick={() => onOrder({ by: name, isDescending: isOwn && !order.isDescending })}
    >
      {name}
      <span aria-hidden="true">{isOwn ? ` ${arrow}` : ''}</span>
    </button>
  )
}

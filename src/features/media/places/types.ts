/** A town, as photos are grouped by it. */
export interface Town {
  /** Its id at GeoNames. */
  readonly id: number;
  /** As GeoNames spells it: in the local language, in Latin letters. */
  readonly name: string;
  /** The state or province; null if unknown. */
  readonly region: string | null;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  /** Degrees, to about a kilometer. */
  readonly latitude: number;
  readonly longitude: number;
}

/** The place of photos that were taken far from all towns: its id in the database. */
export const ELSEWHERE_ID = 0;

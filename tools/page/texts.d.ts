/** The texts of the page, as the service serves them in each language (`service/texts`). */
import table from "../../service/texts/en/page/table.json";
import views from "../../service/texts/en/page/views.json";
import tiles from "../../service/texts/en/tiles.json";

export type Texts = typeof table & typeof views & { tiles: typeof tiles };
